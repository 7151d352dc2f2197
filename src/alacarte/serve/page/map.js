// Map: words on a plane, from the vectors' own place to the corpus's, with regions of doubt; pan and zoom.

import { about, addressOf, ask, conditions, download, element, go, modelOf, named, noCorpus, noteForm, png, say, shell, sliced, sliceForm, state, svgLink, tools, whole } from "./common.js";

const WIDTH = 1000, HEIGHT = 640;

export async function map(main) {
  const there = await about();
  if (!there.corpora.length) { noCorpus(main); return; }
  const given = state(), model = await modelOf(), form = await sliceForm("", given.get("corpus"), given.getAll("where"));
  const words = element("textarea", { id: "words", rows: 2, spellcheck: "false" });
  words.value = given.getAll("words").join(" ");
  const background = element("select", { id: "background" }, [0, 2000, 20000, 100000].map((count) => element("option", { value: count, selected: String(count) === (given.get("background") ?? "2000") }, count ? `${whole(count)} words behind` : "none")));
  const heading = element("h1", {}, "Where does this text put words?");
  const lede = element("p", { class: "lede" }, "An arrow leads from where the vectors put a word to where this text puts it; the ring is where it may be, with 95 % certainty. Drag to move, turn the wheel or press + and − to zoom.");
  const shown = element("div", {}), told = element("p", { class: "hint", role: "status" });

  async function answer(push = true) {
    const list = words.value.split(/[\s,]+/).filter(Boolean);
    const values = { corpus: form.corpus(), where: form.where(), words: list, background: background.value, model: given.get("model") ?? "" };
    if (push) go("/map", values);
    if (list.length < 2) { told.textContent = "Name at least two words that the text uses."; shown.replaceChildren(); return; }
    told.textContent = "…";
    try {
      const answered = await ask("/api/map", values);
      told.textContent = answered.missing.length ? `Not in this text: ${answered.missing.join(", ")}.` : "";
      const drawing = draw(answered, values);
      shown.replaceChildren(drawing.place, tools({ rows: answered.points, name: "map",
        python: `from alacarte import ALaCarte, Concordance\nfrom alacarte.inference.word_map import word_map\n\nmodel = ${model.python}\ninduced = ${sliced(form.chosen.path, values.where)}.induce(model, ${JSON.stringify(list)})\nword_map(induced.uncertainty)`,
        command: shell("alc", "concordance", "map", form.chosen.path, ...list.flatMap(named), ...conditions("--where", values.where), ...model.options), pictures: [drawing.picture] }),
      element("button", { type: "button", class: "plain", onclick: async () => download(await png(drawing.picture, drawing.behind), "map-with-background.png") }, "PNG with the words behind"));
    } catch (error) { told.textContent = ""; say(shown, error); }
  }

  const search = element("form", { onsubmit: (event) => { event.preventDefault(); answer(); } },
    element("label", { for: "words" }, "Words"), words, form.place, element("div", { class: "asks" }, element("div", {}, element("label", { for: "background" }, "Behind them"), background)),
    element("button", { type: "submit", class: "plain" }, "Draw"));
  search.addEventListener("change", async (event) => {
    if (event.target.id === "corpus") { go("/map", { corpus: form.corpus(), words: words.value.split(/[\s,]+/) }); await map(main); }
  });
  main.replaceChildren(heading, lede, search, told, shown, there.keeps ? noteForm() : "");
  if (words.value.trim()) await answer(false); else told.textContent = "Name at least two words that the text uses.";

  function draw(answered, values) {
    const points = answered.points, all = points.flatMap((point) => [[point.x, point.y, point.major], ...(point.own_x === null ? [] : [[point.own_x, point.own_y, 0]])]);
    const reach = (place, sign) => Math.max(...all.map((point) => sign * point[place] + point[2]));
    const spanX = reach(0, 1) + reach(0, -1), spanY = reach(1, 1) + reach(1, -1);
    const fit = 0.86 * Math.min(WIDTH / Math.max(spanX, 1e-6), HEIGHT / Math.max(spanY, 1e-6));
    const start = { scale: fit, x: WIDTH / 2 - (fit * (reach(0, 1) - reach(0, -1))) / 2, y: HEIGHT / 2 + (fit * (reach(1, 1) - reach(1, -1))) / 2 };
    let view = { ...start };
    const behind = element("canvas", { width: 2 * WIDTH, height: 2 * HEIGHT, "aria-hidden": "true" });
    const picture = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Words on a plane", tabindex: "0" });
    const px = (x) => view.x + view.scale * x, py = (y) => view.y - view.scale * y;

    function redraw() {
      const rows = [], label = (x, y) => { // labels that would lie on each other are moved down
        let row = y + 5;
        while (rows.some((other) => Math.abs(other[0] - x) < 90 && Math.abs(other[1] - row) < 15)) row += 4;
        rows.push([x, row]);
        return row;
      };
      const front = points.flatMap((point, which) => {
        const colour = ["context", "spelling", "third", "fourth", "fifth", "sixth", "seventh"][which % 7], at = [px(point.x), py(point.y)];
        const ring = element("ellipse", { class: `ring ${colour}`, cx: at[0], cy: at[1], rx: view.scale * point.major, ry: view.scale * point.minor, transform: `rotate(${(-180 * point.angle) / Math.PI} ${at[0]} ${at[1]})` });
        const name = svgLink(addressOf("/word", { corpus: values.corpus, where: values.where, phrase: point.word }), element("text", { class: `label ${colour}`, x: at[0] + 8, y: label(...at) }, point.word));
        const arrow = point.own_x === null ? [] : [element("line", { class: `curve ${colour}`, x1: px(point.own_x), y1: py(point.own_y), x2: at[0], y2: at[1] }), head(px(point.own_x), py(point.own_y), ...at, colour)];
        return [ring, ...arrow, element("circle", { class: `point ${colour}`, cx: at[0], cy: at[1], r: 4 }), name];
      });
      picture.replaceChildren(...front);
      const pen = behind.getContext("2d"), look = getComputedStyle(document.body), { words: names, x, y } = answered.background;
      pen.clearRect(0, 0, behind.width, behind.height);
      pen.fillStyle = look.getPropertyValue("--soft");
      pen.globalAlpha = 0.35;
      const seen = [];
      for (let place = 0; place < x.length; place += 1) {
        const across = 2 * px(x[place]), down = 2 * py(y[place]);
        if (across > 0 && down > 0 && across < behind.width && down < behind.height) { pen.fillRect(across - 1, down - 1, 3, 3); if (seen.length < 400) seen.push(place); }
      }
      pen.globalAlpha = 0.8;
      pen.font = `22px ${look.getPropertyValue("--sans")}`;
      const taken = [];
      for (const place of seen) {
        const across = 2 * px(x[place]), down = 2 * py(y[place]);
        if (taken.length < 60 && !taken.some((other) => Math.abs(other[0] - across) < 150 && Math.abs(other[1] - down) < 30)) { taken.push([across, down]); pen.fillText(names[place], across + 6, down + 6); }
      }
    }

    function zoom(factor, x = WIDTH / 2, y = HEIGHT / 2) {
      const scale = Math.max(start.scale / 20, Math.min(start.scale * 200, view.scale * factor));
      view = { scale, x: x - ((x - view.x) * scale) / view.scale, y: y - ((y - view.y) * scale) / view.scale };
      soon();
    }

    let waiting = false;
    const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; redraw(); }); } };
    const place = (event) => { const box = picture.getBoundingClientRect(); return [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * HEIGHT) / box.height]; };
    picture.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...place(event)); }, { passive: false });
    let from = null;
    picture.addEventListener("pointerdown", (event) => { from = [...place(event), view.x, view.y]; });
    picture.addEventListener("pointermove", (event) => { if (from && event.buttons) { const [x, y] = place(event); view = { ...view, x: from[2] + x - from[0], y: from[3] + y - from[1] }; soon(); } });
    picture.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (moves) { view = { ...view, x: view.x + moves[0], y: view.y + moves[1] }; soon(); }
      else if (event.key === "+" || event.key === "=") zoom(1.3);
      else if (event.key === "-") zoom(1 / 1.3);
      else if (event.key === "0") { view = { ...start }; soon(); }
      else return;
      event.preventDefault();
    });
    redraw();
    const button = (label, name, act) => element("button", { type: "button", class: "plain", "aria-label": name, onclick: act }, label);
    const buttons = element("div", { class: "zoom" }, button("+", "Zoom in", () => zoom(1.3)), button("−", "Zoom out", () => zoom(1 / 1.3)), button("All", "Show all", () => { view = { ...start }; soon(); }));
    const rows = points.map((point) => element("tr", {}, [point.word, point.contexts, ...["x", "y", "own_x", "own_y", "major"].map((name) => (point[name] === null ? "none" : point[name].toFixed(3)))].map((cell) => element("td", {}, String(cell)))));
    const table = element("div", { class: "unseen" }, element("table", {}, element("caption", {}, "Words on a plane"), element("thead", {}, element("tr", {}, ["word", "uses", "x", "y", "own x", "own y", "doubt"].map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, rows)));
    return { place: element("div", { class: "map" }, behind, picture, buttons, table), picture, behind };
  }
}

function head(x1, y1, x2, y2, colour) {
  const angle = Math.atan2(y2 - y1, x2 - x1), corner = (turn) => `${x2 - 11 * Math.cos(angle + turn)},${y2 - 11 * Math.sin(angle + turn)}`;
  return element("polygon", { class: `point ${colour}`, points: `${x2},${y2} ${corner(0.4)} ${corner(-0.4)}` });
}
