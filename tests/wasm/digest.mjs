// node tests/wasm/digest.mjs FILE.wasm STEPS: prints the digest of `cube9` after so many steps.
import { readFile } from "node:fs/promises";

const [file, steps] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(file), {});
const at = instance.exports.digest(Number(steps));
if (at === 0) throw new Error("the engine failed");
console.log(new TextDecoder().decode(new Uint8Array(instance.exports.memory.buffer, at, 64)));
