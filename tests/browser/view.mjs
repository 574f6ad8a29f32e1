// `nendo view` in a real browser: it loads, it moves, it can be pulled; pictures go to the folder given.
// Usage: node view.mjs NENDO FOLDER

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [nendo, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const WAIT = { timeout: 60_000, polling: 50 };

async function serve(...args) {
  const child = spawn(nendo, ["view", "--json", "--quiet", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise(done => child.once("exit", done));
  const first = new Promise(done => createInterface({ input: child.stdout }).once("line", done));
  const line = await Promise.race([first, ended.then(code => assert.fail(`nendo view ended with ${code}`))]);
  return {
    url: JSON.parse(line).url,
    async end() {
      child.kill("SIGINT");
      assert.equal(await ended, 0, "Ctrl-C ends it well");
    },
  };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// How much of a picture is not background, and how much differs from another.
const judge = await browser.newPage();
const compare = (...shots) => judge.evaluate(async shots => {
  const [a, b] = await Promise.all(shots.map(async shot => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${shot}`)).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  }));
  let drawn = 0, changed = 0;
  for (let k = 0; k < a.length; k += 4) {
    const paper = Math.abs(a[k] - 248) + Math.abs(a[k + 1] - 244) + Math.abs(a[k + 2] - 236);
    if (paper > 60) drawn++;
    if (Math.abs(a[k] - b[k]) + Math.abs(a[k + 1] - b[k + 1]) + Math.abs(a[k + 2] - b[k + 2]) > 24) changed++;
  }
  return { drawn: drawn / (a.length / 4), changed: changed / (a.length / 4) };
}, shots);

async function visit(url) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 700 } });
  const wrong = [];
  page.on("console", message => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", error => wrong.push(String(error)));
  page.on("request", request => new URL(request.url()).host !== new URL(url).host && !request.url().startsWith("data:")
    && wrong.push(`asks elsewhere: ${request.url()}`));
  await page.goto(url);
  await page.waitForFunction(() => window.nendo?.state?.frames > 2, null, WAIT);
  const shot = async name => (await page.locator("#view").screenshot({ path: name && `${folder}/${name}.png` })).toString("base64");
  const until = (what, arg) => page.waitForFunction(what, arg, WAIT);
  return { page, wrong, shot, until, async end() { assert.deepEqual(wrong, [], "no complaint at the console"); await page.close(); } };
}

// Where a particle is on the screen.
const place = (page, particle) => page.evaluate(p => {
  const { camera, project, state } = window.nendo, box = document.getElementById("overlay").getBoundingClientRect();
  const [x, y] = project(camera.matrix(), state.positions.subarray(3 * p, 3 * p + 3), box.width, box.height);
  return [x + box.left, y + box.top];
}, particle);
const where = (page, particle) => page.evaluate(p => [...window.nendo.state.positions.subarray(3 * p, 3 * p + 3)], particle);
const rewind = async ({ page, until }) => {
  if (await page.evaluate(() => window.nendo.state.running)) await page.click("#play");
  await until(() => !window.nendo.state.running);
  await page.click("#reset");
  await until(() => window.nendo.state.step === 0 && !window.nendo.state.busy);
};

async function moves_and_is_pulled(name, ...args) {
  const server = await serve("cube9", ...args);
  const view = await visit(server.url), { page, until, shot } = view;
  assert.equal(await page.evaluate(() => window.nendo.scene.particles), 729);

  // It moves by itself.
  const first = await shot();
  const step = await page.evaluate(() => window.nendo.state.step);
  await until(s => window.nendo.state.step > s, step);

  // As it goes when nobody touches it, and as it goes when a corner is pulled up.
  const corner = 728;
  await rewind(view);
  await page.click("#step");
  await until(() => window.nendo.state.step === 1);
  await page.click("#step", { modifiers: ["Shift"] });
  await until(() => window.nendo.state.step === 101);
  const alone = await where(page, corner);
  await rewind(view);
  const [x, y] = await place(page, corner);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 20, y - 120, { steps: 4 });
  await until(p => window.nendo.state.pull?.particle === p, corner);
  await page.keyboard.press("s");
  await page.keyboard.press("Shift+S");
  await until(() => window.nendo.state.step === 101);
  const pulled = await where(page, corner);
  const lift = pulled[2] - alone[2];
  assert.ok(lift > 0.01, `pulled up, it is higher: ${alone} ${pulled}`);
  const pull = await page.evaluate(() => window.nendo.state.pull);
  assert.ok(pull.force[2] > 0 && pull.reaction[2] < 0, `the object answers: ${JSON.stringify(pull)}`);
  await page.keyboard.press(" ");
  await page.waitForTimeout(1500);
  const second = await shot(`${name}-pulled`);
  await page.mouse.up();
  await until(() => window.nendo.state.pull === null);
  const found = await compare(first, second);
  assert.ok(found.drawn > 0.1 && found.changed > 0.01, `something is drawn, and changes: ${JSON.stringify(found)}`);
  const rate = await page.evaluate(() => window.nendo.state.rate);
  console.log(`${name}: lifted by ${lift.toExponential(2)} m in 101 steps, ${(100 * found.drawn).toFixed(0)} % drawn, `
    + `${(100 * found.changed).toFixed(0)} % changed, ${rate.toFixed(0)} steps/s`);
  await view.end();
  await server.end();
}

async function is_touched() {
  const server = await serve("cube9", "--engine", "f32");
  const view = await visit(server.url), { page, until, shot } = view;
  const middle = await page.evaluate(() => {
    const { rest, high, particles } = window.nendo.scene;
    const aside = p => Math.hypot(rest[3 * p], rest[3 * p + 1]) + 10 * (high[2] - rest[3 * p + 2]);
    return [...Array(particles).keys()].reduce((best, p) => (aside(p) < aside(best) ? p : best), 0);
  });
  // As it goes when nobody touches it, and as it goes when it is touched.
  const run = async () => {
    for (let k = 0; k < 3; k++) await page.keyboard.press("Shift+S");
    await until(() => window.nendo.state.step === 300);
    return where(page, middle);
  };
  await rewind(view);
  const alone = await run();
  await rewind(view);
  const [x, y] = await place(page, middle);
  await page.keyboard.down("Control");
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y + 60, { steps: 4 });
  await until(() => window.nendo.state.touch);
  await page.waitForTimeout(1000); // several messages: the ball is told to be where the mouse is
  await page.keyboard.up("Control");
  const touched = await run();
  await shot("touched");
  await page.mouse.up();
  await until(() => !window.nendo.state.touch);
  const pushed = Math.hypot(...touched.map((v, k) => v - alone[k]));
  assert.ok(pushed > 0.01, `touched, it is elsewhere: ${alone} ${touched}`);
  console.log(`touched: the middle of the top is ${pushed.toExponential(2)} m aside after 300 steps`);
  await view.end();
  await server.end();
}

async function shows_everything_else() {
  const server = await serve("materials");
  const view = await visit(server.url), { page, until, shot } = view;
  await page.selectOption("#color", "stress");
  const run = async steps => {
    for (let k = 100; k <= steps; k += 100) await page.keyboard.press("Shift+S");
    await until(k => window.nendo.state.step === k, steps);
  };
  await page.evaluate(() => document.activeElement.blur());
  await rewind(view);
  await run(2500);
  const pressed = await shot("materials-pressed");
  await page.click("#play");
  await until(() => window.nendo.state.time > 5);
  const released = await shot("materials-released");
  const found = await compare(pressed, released);
  assert.ok(found.drawn > 0.1 && found.changed > 0.01, JSON.stringify(found));

  // Turning, moving and zooming change the picture, not the state.
  await page.click("#play");
  await until(() => !window.nendo.state.running);
  const still = await shot(), step = await page.evaluate(() => window.nendo.state.step);
  for (const [button, keys] of [["left", 60], ["right", 40]]) {
    await page.mouse.move(60, 120);
    await page.mouse.down({ button });
    await page.mouse.move(60 + keys, 160, { steps: 3 });
    await page.mouse.up({ button });
    await page.mouse.wheel(0, -200);
    assert.ok((await compare(still, await shot())).changed > 0.01, button);
  }
  assert.equal(await page.evaluate(() => window.nendo.state.step), step);

  // Every choice there is.
  for (const id of ["surface", "edges", "particles", "follow"]) await page.click(`#${id}`);
  await page.selectOption("#engine", "f64");
  await until(() => window.nendo.scene.engine === "f64" && !window.nendo.state.busy);
  await page.selectOption("#engine", "model");
  await page.selectOption("#color", "error");
  await page.selectOption("#speed", "");
  for (const name of ["cube9", "single"]) {
    await page.selectOption("#scene", { label: name });
    await until(name => window.nendo.scene.name === name && !window.nendo.state.busy, name);
  }
  await page.click("#play");
  await until(() => window.nendo.state.mean_error > 0 && window.nendo.state.step > 1000);
  await page.selectOption("#profile", "paper-2005");
  await until(() => window.nendo.scene.profile === "paper-2005" && window.nendo.state.step > 100);
  await page.screenshot({ path: `${folder}/page.png` });
  await view.end();
  await server.end();
}

try {
  await moves_and_is_pulled("model");
  await is_touched();
  await shows_everything_else();
  await moves_and_is_pulled("rtl", "--engine", "rtl");
} finally {
  await browser.close();
}
