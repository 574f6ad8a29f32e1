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
  // A failed check must not leave it behind.
  process.once("exit", () => child.kill("SIGKILL"));
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

async function visit(url, device = { viewport: { width: 1100, height: 700 } }) {
  const page = await browser.newPage(device);
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
// The number of a text such as "1,234 N" or "12k N".
const number = words => parseFloat(words.replaceAll(",", "")) * (/k/.test(words) ? 1000 : 1);
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
  const lay = async () => {
    await page.keyboard.down("Control");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y + 60, { steps: 4 });
    await until(() => window.nendo.state.touch);
    await page.waitForTimeout(500); // several messages: the ball is told to be where the mouse is
    await page.keyboard.up("Control");
  };
  await lay();
  const touched = await run();
  await page.mouse.up();
  await until(() => !window.nendo.state.touch);
  assert.equal(await page.textContent("#touch"), "–", "nothing is felt any more");

  // Step by step until the object is felt: the number on the page is what the engine says.
  await rewind(view);
  await lay();
  let words, force;
  for (let step = 1; step <= 100 && !force; step++) {
    await page.keyboard.press("s");
    await until(step => window.nendo.state.step === step, step);
    [words, force] = await page.evaluate(() => [
      document.getElementById("touch").textContent, window.nendo.state.forces.findLast(([name]) => name === "hand")?.[1],
    ]);
  }
  const newtons = Math.hypot(...force);
  assert.ok(newtons > 0 && Math.abs(number(words) / newtons - 1) < 0.01, `the hand's force is shown: ${words}, ${force}`);
  await shot("touched");
  await page.mouse.up();
  await until(() => !window.nendo.state.touch);
  const pushed = Math.hypot(...touched.map((v, k) => v - alone[k]));
  assert.ok(pushed > 0.01, `touched, it is elsewhere: ${alone} ${touched}`);
  console.log(`touched: ${words} felt; the middle of the top is ${pushed.toExponential(2)} m aside after 300 steps`);
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

  // What is pinned is seen.
  await page.click("#play");
  await until(() => !window.nendo.state.running);
  assert.ok(await page.evaluate(() => window.nendo.drawn.includes("pins") && window.nendo.scene.held.length > 0));
  const pinned = await shot();
  await page.click("#around");
  await until(() => !window.nendo.drawn.includes("pins"));
  const pins = (await compare(pinned, await shot())).changed;
  assert.ok(pins > 5e-4, `pins are seen: ${pins}`);
  await page.click("#around");

  // Turning, moving and zooming change the picture, not the state.
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
  for (const id of ["surface", "smooth", "edges", "particles", "around", "follow"]) await page.click(`#${id}`);
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

// Boundaries are drawn where the engine has them, forces on them shown, and what flew away does not count.
async function shows_what_is_around() {
  const server = await serve("scenes/x2-roller.toml");
  const view = await visit(server.url), { page, until, shot } = view;
  await rewind(view);
  const drawn = () => page.evaluate(() => window.nendo.drawn);
  await until(() => window.nendo.drawn.includes("roller"));
  assert.deepEqual(await drawn(), ["table", "surface", "roller"]);
  await page.click("#fit");
  const before = await shot();
  await page.click("#around");
  await until(() => !window.nendo.drawn.includes("roller"));
  const { changed } = await compare(before, await shot());
  assert.ok(changed > 0.1, `roller and belt are seen: ${changed}`);
  await page.click("#around");
  await page.click("#edges");
  await until(() => window.nendo.drawn.includes("edges"));
  await page.click("#edges");

  // The dough has fallen on its belt: it presses downwards, and the number is shown.
  await page.evaluate(() => document.activeElement.blur());
  for (let k = 0; k < 5; k++) await page.keyboard.press("Shift+S");
  await until(() => window.nendo.state.step === 500);
  const [words, force] = await page.evaluate(() => [document.querySelector("#forces dd").textContent, window.nendo.state.forces[0]]);
  assert.ok(force[0] === "table" && force[1][2] < 0, JSON.stringify(force));
  const weight = 210 * 0.002 * 9.8;
  assert.ok(Math.abs(number(words) / weight - 1) < 0.05, `the belt bears the dough's ${weight} N: ${words}`);

  // Fitted, then one particle far away: fitted again, the eye stays where it was.
  await page.click("#fit");
  const eye = () => page.evaluate(() => [...window.nendo.camera.target, window.nendo.camera.distance]);
  const near = await eye();
  await page.evaluate(() => { window.nendo.state.positions[3 * 100 + 2] = 1e6; });
  await page.click("#fit");
  const away = (await eye()).map((v, k) => Math.abs(v - near[k]) / near[3]);
  assert.ok(Math.max(...away) < 0.05, `one particle that flew away moved the eye: ${near} ${away}`);
  // All of it shifted does move it.
  await page.evaluate(() => { window.nendo.state.positions.forEach((v, k, all) => { all[k] = v + 1; }); });
  await page.click("#fit");
  assert.ok((await eye())[0] > near[0] + 0.5);

  await page.click("#reset");
  await until(() => window.nendo.state.step === 0 && !window.nendo.state.busy);
  await page.click("#fit");
  await page.selectOption("#speed", "");
  await page.click("#play");
  await until(() => window.nendo.state.time > 1.2);
  await page.click("#play");
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/desktop.png` });
  console.log(`around: ${(100 * changed).toFixed(0)} % of the picture is roller and belt; ${words} on the belt`);
  await view.end();
  await server.end();
}

// A phone: the object has most of the screen, the panel unfolds, fingers turn, zoom, pull and touch.
async function fits_a_phone() {
  const server = await serve("scenes/x3-interactive.toml");
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
  const view = await visit(server.url, phone), { page, until } = view;
  const layout = () => page.evaluate(() => ({
    wide: document.documentElement.scrollWidth, view: document.getElementById("view").clientHeight,
    time: document.getElementById("time").offsetHeight, play: document.getElementById("play").getBoundingClientRect().bottom,
  }));
  const folded = await layout();
  assert.ok(folded.wide <= 390 && folded.view > 0.75 * 844 && folded.time === 0 && folded.play <= 844, JSON.stringify(folded));
  await page.screenshot({ path: `${folder}/phone.png` });
  await page.tap("#more");
  const open = await layout();
  assert.ok(open.wide <= 390 && open.view > 0.3 * 844 && open.time > 0, JSON.stringify(open));
  await page.screenshot({ path: `${folder}/phone-panel.png` });
  await page.tap("#more");

  const devtools = await page.context().newCDPSession(page);
  const touch = (type, ...points) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const camera = () => page.evaluate(() => ({ ...window.nendo.camera }));
  const [x, y] = await place(page, await page.evaluate(() => window.nendo.scene.particles - 1));
  const first = await camera();
  await touch("touchStart", [x, y]);
  await touch("touchMove", [x + 40, y]);
  await touch("touchEnd");
  const turned = await camera();
  assert.ok(Math.abs(turned.around - first.around) > 0.1 && turned.distance === first.distance, "one finger turns");
  await touch("touchStart", [150, 300]);
  await touch("touchStart", [150, 300], [250, 300]);
  await touch("touchMove", [100, 300], [300, 300]);
  await touch("touchEnd");
  const zoomed = await camera();
  assert.ok(zoomed.around === turned.around, "two fingers do not turn");
  assert.ok(Math.abs(zoomed.distance / turned.distance - 0.5) < 0.05, `twice as far apart, twice as large: ${zoomed.distance} ${turned.distance}`);
  assert.equal(await page.evaluate(() => window.nendo.state.pull), null, "nor pulls");

  const corner = await page.evaluate(() => window.nendo.scene.particles - 1);
  await page.tap("#fit");
  for (const [mode, seen] of [["pull", () => window.nendo.state.pull], ["touch", () => window.nendo.state.touch]]) {
    await page.tap(`#finger button[value=${mode}]`);
    const [x, y] = await place(page, corner);
    await touch("touchStart", [x, y]);
    await touch("touchMove", [x - 20, y + 40]);
    await until(seen);
    await page.screenshot({ path: `${folder}/phone-${mode}.png` });
    await touch("touchEnd");
    await until(mode === "pull" ? () => !window.nendo.state.pull : () => !window.nendo.state.touch);
  }
  console.log(`phone: ${folded.view} of 844 pixels for the object, ${open.view} with the panel`);
  await view.end();
  await server.end();
}

try {
  await moves_and_is_pulled("model");
  await is_touched();
  await shows_what_is_around();
  await fits_a_phone();
  await shows_everything_else();
  await moves_and_is_pulled("rtl", "--engine", "rtl");
} finally {
  await browser.close();
}
