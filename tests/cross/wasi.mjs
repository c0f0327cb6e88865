// Runs a wasm32-wasip1 program under Node: `node wasi.mjs PROGRAM.wasm ARGUMENTS...`; ends with the program's exit code.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const passed = ["INSTA_WORKSPACE_ROOT", "INSTA_UPDATE", "CARGO_MANIFEST_DIR", "PROPTEST_CASES", "TESTUDO_CASES", "RUST_BACKTRACE", "CI"];
const env = Object.fromEntries(passed.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
const wasi = new WASI({ version: "preview1", args: [program, ...args], env, preopens: { "/": "/" }, returnOnExit: true });

let memory;
const text = (pointer) => {
  const bytes = new Uint8Array(memory.buffer);
  return bytes.subarray(pointer, bytes.indexOf(0, pointer));
};
// Symbols that Debian's wasi-libc lacks and Rust's standard library names. There are no threads and no links to follow.
const env_imports = {
  pthread_join: () => 58, // ENOTSUP
  pthread_detach: () => 58,
  realpath: (path, resolved) => {
    const bytes = text(path);
    const target = resolved || instance.exports.malloc(bytes.length + 1);
    new Uint8Array(memory.buffer).set([...bytes, 0], target);
    return target;
  },
};

const module = await WebAssembly.compile(await readFile(program));
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  if (from === "env" && !(name in env_imports)) throw new Error(`${program} needs env.${name}, which is not there`);
}
const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), env: env_imports });
memory = instance.exports.memory;
let code;
try {
  code = wasi.start(instance);
} catch (error) {
  // A panic aborts the program: an `unreachable` instruction.
  console.error(`${program}: ${error.message}`);
  code = 134;
}
process.exit(code);
