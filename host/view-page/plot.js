// A line through the latest values, on a small canvas.

const KEPT = 600;

export class Plot {
  values = [];

  constructor(canvas, unit, color) {
    Object.assign(this, { canvas, unit, color });
  }

  clear() {
    this.values = [];
  }

  add(x, y) {
    if (!Number.isFinite(y)) return;
    const last = this.values.at(-1);
    if (last && x < last[0]) this.clear();
    this.values.push([x, y]);
    if (this.values.length > KEPT) this.values.shift();
  }

  draw() {
    const { canvas, values } = this, dense = devicePixelRatio;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(w * dense)) [canvas.width, canvas.height] = [Math.round(w * dense), Math.round(h * dense)];
    const c = canvas.getContext("2d");
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.clearRect(0, 0, w, h);
    c.strokeStyle = "#e4dccf";
    c.strokeRect(0.5, 0.5, w - 1, h - 1);
    if (values.length < 2) return;
    const [first, last] = [values[0][0], values.at(-1)[0]];
    const most = values.reduce((m, v) => Math.max(m, v[1]), 1e-12) * 1.1;
    c.beginPath();
    for (const [x, y] of values) c.lineTo(3 + (w - 6) * (x - first) / (last - first || 1), h - 3 - (h - 6) * y / most);
    c.strokeStyle = this.color;
    c.lineWidth = 1.5;
    c.stroke();
    c.fillStyle = "#3d2b1f";
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "right";
    c.fillText(short(values.at(-1)[1]) + this.unit, w - 6, 14);
  }
}

// A number with three digits that count.
export function short(value) {
  if (!Number.isFinite(value)) return "?";
  const size = Math.abs(value);
  if (size >= 1e5) return Math.round(value / 1000).toLocaleString("en") + "k";
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return size >= 1e-3 || size === 0 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}
