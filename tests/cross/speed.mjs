// Compares two WebAssembly programs that do the same: `node speed.mjs ONE.wasm OTHER.wasm ROUNDS`.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import process from "node:process";

const [one, other, rounds] = process.argv.slice(2);
const programs = [];
for (const path of [one, other]) {
  const module = await WebAssembly.compile(await readFile(path));
  programs.push({ path, module, times: [], codes: new Set() });
}
for (let round = 0; round < 2 * Number(rounds); round++) {
  const program = programs[round % 2];
  const { exports } = await WebAssembly.instantiate(program.module, {});
  const start = process.cpuUsage();
  program.codes.add(exports.main(0, 0));
  const { user, system } = process.cpuUsage(start);
  program.times.push((user + system) / 1e3);
}
const codes = new Set(programs.flatMap(({ codes }) => [...codes]));
if (codes.size !== 1) throw new Error(`the programs came to different states: ${[...codes]}`);
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const [a, b] = programs.map(({ path, times }) => {
  const ms = median(times);
  console.log(`${basename(path)}: ${ms.toFixed(0)} ms`);
  return ms;
});
console.log(`ratio ${(a / b).toFixed(2)}`);
