"use strict";

// Draws a chart as report_chart.cc does, for any scales, width and choice of curves.
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${Number(bytes.toPrecision(4))} ${units[unit]}`;
}

function timeText(us) {
  const [value, unit] = us >= 1e6 ? [us / 1e6, "s"] : us >= 1e3 ? [us / 1e3, "ms"] : [us, "µs"];
  return `${Number(value.toPrecision(4))} ${unit}`;
}

function gbpsText(value) {
  return `${Number(value.toPrecision(4))} GB/s`;
}

// 1, 2 or 5 times a power of ten.
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const units = rough / power;
  return power * (units > 5 ? 10 : units > 2 ? 5 : units > 1 ? 2 : 1);
}

class Axis {
  constructor(values, quantity, scale, from, to) {
    Object.assign(this, {quantity, scale, from, to});
    const shown = values.filter((value) => this.canShow(value));
    this.low = shown.reduce((least, value) => Math.min(least, value), shown[0] ?? 1);
    this.high = shown.reduce((most, value) => Math.max(most, value), shown[0] ?? 1);
    if (scale === "linear") {
      this.low = 0;
      if (!(this.high > 0)) this.high = 1;
      if (quantity !== "bytes") this.high = this.step() * Math.ceil(this.high / this.step() * 1.0001);
    } else if (quantity === "bytes") {
      if (this.high < this.low * 2) [this.low, this.high] = [this.low / 2, this.high * 2];
    } else {
      this.low = 10 ** Math.floor(Math.log10(this.low));
      this.high = 10 ** Math.ceil(Math.log10(this.high));
      if (this.high <= this.low) this.high = this.low * 10;
    }
  }

  canShow(value) {
    return Number.isFinite(value) && (this.scale === "linear" || value > 0);
  }

  position(value) {
    const share = this.scale === "linear" ? (value - this.low) / (this.high - this.low)
                                          : Math.log(value / this.low) / Math.log(this.high / this.low);
    return this.from + (this.to - this.from) * share;
  }

  marksMax() {
    return this.quantity === "bytes" ? Math.max(2, Math.floor((this.to - this.from) / 62)) : 5;
  }

  step() {
    if (this.quantity === "bytes") return 2 ** Math.ceil(Math.log2(this.high / Math.max(1, this.marksMax() - 1)));
    return roundStep(this.high / this.marksMax());
  }

  marks() {
    if (this.scale === "linear") {
      const count = Math.floor(this.high * 1.0001 / this.step());
      return Array.from({length: count + 1}, (_, i) => i * this.step());
    }
    return this.quantity === "bytes" ? this.powersOfTwo() : this.powersOfTen();
  }

  powersOfTwo() {
    const first = Math.ceil(Math.log2(this.low) - 1e-9);
    const last = Math.floor(Math.log2(this.high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / this.marksMax()));
    const marks = [];
    for (let power = first; power <= last; power += step) marks.push(2 ** power);
    return marks;
  }

  powersOfTen() {
    const isShort = Math.log10(this.high / this.low) <= 2.001;
    const marks = [];
    for (let power = Math.round(Math.log10(this.low)); power <= Math.log10(this.high) + 1e-9; ++power) {
      marks.push(10 ** power);
      if (isShort) marks.push(...[2, 5].map((factor) => factor * 10 ** power).filter((value) => value < this.high));
    }
    return marks;
  }

  label(value) {
    if (this.quantity === "bytes") return bytesText(value);
    if (this.quantity === "time" && value !== 0) return timeText(value);
    return String(Number(value.toPrecision(6)));
  }
}

// The value of a curve where an iteration takes this long.
function valueAt(point, quantity, us) {
  if (us === null || point.time === null) return NaN;
  if (quantity === "time") return us;
  return point.bandwidth === null ? NaN : point.bandwidth * point.time / us;
}

function valueOf(point, quantity) {
  return valueAt(point, quantity, point.time);
}

class Picture {
  constructor(curves, view, width) {
    const height = Math.round(Math.min(420, Math.max(250, width * 0.6)));
    Object.assign(this, {curves, view, width, height, left: 58, right: 30, top: 28, bottom: 34});
    const points = curves.flatMap((curve) => curve.points);
    const values = points.flatMap((point) => [point.time, point.p50, point.p99].map(
        (us) => valueAt(point, view.quantity, us)));
    this.x = new Axis(points.map((point) => point.bytes), "bytes", view.x, this.left, width - this.right);
    this.y = new Axis(values, view.quantity, view.y, height - this.bottom, this.top);
  }

  draw() {
    const what = this.view.quantity === "time" ? "Time" : "Bus bandwidth";
    const svg = element("svg", {class: "chart", viewBox: `0 0 ${this.width} ${this.height}`, tabindex: "0",
                                "aria-label": `${what} against size; the arrow keys move along the sizes`});
    if (this.curves.every((curve) => curve.points.length === 0)) {
      svg.append(element("text", {x: this.width / 2, y: this.height / 2, "text-anchor": "middle"},
                         this.view.isEmpty ? "Nothing was measured" : "No curve is switched on"));
      return svg;
    }
    this.drawGrid(svg);
    for (const curve of this.curves) this.drawBand(svg, curve);
    for (const curve of [...this.curves].reverse()) this.drawCurve(svg, curve);
    return svg;
  }

  drawGrid(svg) {
    const bottom = this.height - this.bottom;
    const end = this.width - this.right;
    for (const value of this.y.marks()) {
      const y = this.y.position(value);
      svg.append(element("line", {class: "grid", x1: this.left, x2: end, y1: y, y2: y}),
                 element("text", {x: this.left - 8, y: y + 4, "text-anchor": "end"}, this.y.label(value)));
    }
    for (const value of this.x.marks()) {
      const x = this.x.position(value);
      svg.append(element("line", {class: "grid", x1: x, x2: x, y1: this.top, y2: bottom}),
                 element("text", {x, y: bottom + 20, "text-anchor": "middle"}, this.x.label(value)));
    }
    svg.append(element("text", {x: this.left, y: 14}, this.view.quantity === "time" ? "time" : "GB/s"));
  }

  place(point, value) {
    if (!this.x.canShow(point.bytes) || !this.y.canShow(value)) return null;
    return [this.x.position(point.bytes).toFixed(1), this.y.position(value).toFixed(1)];
  }

  drawBand(svg, curve) {
    const there = [];
    const back = [];
    for (const point of curve.points) {
      const low = this.place(point, valueAt(point, this.view.quantity, point.p50));
      const high = this.place(point, valueAt(point, this.view.quantity, point.p99));
      if (!low || !high) continue;
      there.push(low.join(" "));
      back.unshift(high.join(" "));
    }
    if (there.length === 0) return;
    svg.append(element("path", {class: `band colour-${curve.colour}`, d: `M${[...there, ...back].join("L")}Z`}));
  }

  drawCurve(svg, curve) {
    const places = curve.points.map((point) => this.place(point, valueOf(point, this.view.quantity))).filter(Boolean);
    if (places.length === 0) return;
    const names = `colour-${curve.colour} ${curve.style}`;
    svg.append(element("path", {class: `curve ${names}`, d: `M${places.map((place) => place.join(" ")).join("L")}`}));
    if (curve.style === "estimate") return;
    const dots = places.map(([cx, cy]) => element("circle", {cx, cy, r: 2.6}));
    svg.append(element("g", {class: `dots ${names}`}, ...dots));
  }
}
