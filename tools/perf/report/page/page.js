
// What the reader can change: scales, curves, and the size that is read out.
const data = JSON.parse(document.getElementById("data").textContent);
const charts = [];

class Chart {
  constructor(id, view) {
    this.figure = document.getElementById(id);
    this.holder = this.figure.querySelector(".holder");
    this.view = {...view, isEmpty: data.curves.length === 0};
    this.size = null;
    const switches = this.figure.querySelector(".switches");
    switches.append(this.makeSwitch("size", "x"), this.makeSwitch(view.quantity, "y"));
    this.draw();
    new ResizeObserver(() => {
      if (Math.abs(this.holder.clientWidth - this.picture.width) > 1) this.draw();
    }).observe(this.holder);
  }

  makeSwitch(name, axis) {
    const choices = document.createElement("span");
    choices.className = "choices";
    for (const scale of ["log", "linear"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = scale;
      button.dataset.axis = axis;
      button.dataset.scale = scale;
      button.setAttribute("aria-label", `${name} axis ${scale === "log" ? "logarithmic" : "linear"}`);
      button.setAttribute("aria-pressed", this.view[axis] === scale);
      button.addEventListener("click", () => {
        this.view[axis] = scale;
        for (const other of choices.children) other.setAttribute("aria-pressed", other === button);
        this.draw();
      });
      choices.append(button);
    }
    const made = document.createElement("span");
    made.className = "switch";
    made.append(name, choices);
    return made;
  }

  draw() {
    const shown = data.curves.filter((curve) => curve.shown);
    this.picture = new Picture(shown, this.view, Math.max(280, this.holder.clientWidth));
    const svg = this.picture.draw();
    svg.addEventListener("pointermove", (event) => this.pointAt(svg, event));
    svg.addEventListener("pointerleave", () => this.readOut(null));
    svg.addEventListener("blur", () => this.readOut(null));
    svg.addEventListener("keydown", (event) => this.step(event));
    this.holder.replaceChildren(svg);
    this.holder.dataset.drawn = "script";
    this.sizes = [...new Set(shown.flatMap((curve) => curve.points.map((point) => point.bytes)))]
        .filter((bytes) => this.picture.x.canShow(bytes)).sort((left, right) => left - right);
  }

  pointAt(svg, event) {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * this.picture.width / box.width;
    const distance = (bytes) => Math.abs(this.picture.x.position(bytes) - x);
    this.readOut(this.sizes.reduce((best, bytes) => distance(bytes) < distance(best) ? bytes : best, this.sizes[0]));
  }

  step(event) {
    const move = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!move || this.sizes.length === 0) return;
    event.preventDefault();
    const index = this.sizes.indexOf(this.size) + move;
    this.readOut(this.sizes[Math.max(0, Math.min(this.sizes.length - 1, index))]);
  }

  // The values of all curves at a size, beside a line through them; null takes both away.
  readOut(size) {
    this.size = size ?? null;
    for (const old of this.holder.querySelectorAll(".guide, .readout")) old.remove();
    if (this.size === null) return;
    const picture = this.picture;
    const x = picture.x.position(size);
    this.holder.querySelector("svg").append(element("line", {
      class: "guide", x1: x, x2: x, y1: picture.top, y2: picture.height - picture.bottom}));
    const box = document.createElement("div");
    box.className = "readout";
    const title = document.createElement("strong");
    title.textContent = bytesText(size);
    box.append(title, ...picture.curves.flatMap((curve) => this.readOutLine(curve, size)));
    box.style[x < picture.width / 2 ? "left" : "right"] =
        `${(x < picture.width / 2 ? x : picture.width - x) / picture.width * 100 + 2}%`;
    this.holder.append(box);
  }

  readOutLine(curve, size) {
    const point = curve.points.find((candidate) => candidate.bytes === size);
    const value = point ? valueOf(point, this.view.quantity) : NaN;
    if (!Number.isFinite(value)) return [];
    const line = document.createElement("div");
    const name = document.createElement("span");
    name.className = `colour-${curve.colour}`;
    name.textContent = curve.label;
    const number = document.createElement("b");
    number.textContent = this.view.quantity === "time" ? timeText(value) : gbpsText(value);
    line.append(name, number);
    return [line];
  }
}

function watchLegend() {
  document.querySelectorAll(".legend .entry").forEach((entry, index) => {
    const curve = data.curves[index];
    entry.addEventListener("click", () => {
      curve.shown = !curve.shown;
      entry.setAttribute("aria-pressed", curve.shown);
      for (const chart of charts) chart.draw();
    });
  });
}

function offerCopy() {
  const button = document.getElementById("copy");
  const command = document.getElementById("command");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {  // pages from files may not write to the clipboard everywhere; the reader still can
      getSelection().selectAllChildren(command);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

function offerSave() {
  const button = document.getElementById("save");
  button.hidden = false;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(data.run, null, 1)], {type: "application/json"}));
    link.download = `${data.run.program || "perf"}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

charts.push(new Chart("bandwidth", {quantity: "bandwidth", x: "log", y: "linear"}),
            new Chart("time", {quantity: "time", x: "log", y: "log"}));
watchLegend();
offerCopy();
offerSave();
