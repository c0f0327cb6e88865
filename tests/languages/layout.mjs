// Where JavaScript takes the fields of structures to be: one line each, as the program that layout.awk makes.
import { layouts as crowd } from "../../lockstep/c/js/crowd.mjs";
import { layouts as match } from "../../lockstep/c/js/match.mjs";
import { layouts as world } from "../../lockstep/c/js/world.mjs";

for (const [name, { places, size }] of Object.entries({ ...world, ...crowd, ...match })) {
  for (const [field, , offset] of places) console.log(`${name}.${field} ${offset}`);
  console.log(`${name} ${size}`);
}
