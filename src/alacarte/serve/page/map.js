// Map: words on a plane, from the vectors' own place to the corpus's, with regions of doubt; pan and zoom.

import {
  about,
  addressOf,
  ask,
  conditions,
  current,
  download,
  element,
  entitle,
  go,
  named,
  png,
  say,
  script,
  shell,
  sliced,
  state,
  svgLink,
  tools,
  visit,
  whole,
} from "./common.js";
import { noteForm } from "./keeping.js";
import { exampleLinks, modelOf, noCorpus, sliceForm } from "./slices.js";
import { COLOURS, table } from "./charts.js";

export async function map(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state(),
    model = await modelOf(),
    form = await sliceForm("", given.get("corpus"), given.getAll("where"));
  const words = element("textarea", { id: "words", rows: 2, spellcheck: "false", "data-search": true });
  words.value = given.getAll("words").join(" ");
  const background = element(
    "select",
    { id: "background" },
    [0, 2000, 20000, 100000].map((count) =>
      element(
        "option",
        { value: count, selected: String(count) === (given.get("background") ?? "2000") },
        count ? `${whole(count)} words behind` : "none",
      ),
    ),
  );
  const heading = element("h1", {}, "Where does this text put words?");
  const lede = element(
    "p",
    { class: "lede" },
    "An arrow leads from where the vectors put a word to where this text puts it; the ring is where it may be, with 95 % certainty. Drag to move, turn the wheel or press + and − to zoom.",
  );
  const shown = element("div", { class: "reserved drawn" }),
    told = element("p", { class: "hint", role: "status" });

  function answer(push = true) {
    const list = words.value.split(/[\s,]+/).filter(Boolean);
    const values = {
      corpus: form.corpus(),
      where: form.where(),
      words: list,
      background: background.value,
      model: given.get("model"),
    };
    if (push) go("/map", values);
    entitle(list.slice(0, 4).join(", "), "Map");
    return current(
      shown,
      async (signal) => {
        if (list.length < 2) {
          told.textContent = "Name at least two words that the text uses.";
          const words = form.chosen.examples;
          const link = [words.join(" "), addressOf("/map", { ...values, words })];
          shown.replaceChildren(words.length > 1 ? exampleLinks([link]) : "");
          return;
        }
        told.textContent = "…";
        const answered = await ask("/api/map", values, false, signal);
        told.textContent = answered.missing.length ? `Not in this text: ${answered.missing.join(", ")}.` : "";
        const drawing = draw(answered, values);
        shown.replaceChildren(
          drawing.place,
          tools({
            rows: answered.points,
            name: "map",
            python: script(
              model,
              null,
              [
                `corpus = ${sliced(form.chosen.path, values.where)}`,
                `induced = corpus.induce(model, ${JSON.stringify(list.filter((each) => !answered.missing.includes(each)))})`,
                "print(word_map(induced.uncertainty))",
              ],
              { names: ["Concordance"], imports: ["from alacarte.comparing.word_map import word_map"] },
            ),
            command: shell(
              "alc",
              "concordance",
              "map",
              form.chosen.path,
              ...list.flatMap(named),
              ...conditions("--where", values.where),
              ...model.options,
            ),
            pictures: [drawing.picture],
          }),
          element(
            "button",
            {
              type: "button",
              class: "plain",
              onclick: async () => download(await png(drawing.picture, drawing.behind), "map-with-background.png"),
            },
            "PNG with the words behind",
          ),
        );
        drawing.begin();
      },
      (error) => {
        told.textContent = "";
        say(shown, error);
      },
    );
  }

  form.place.append(element("div", {}, element("label", { for: "background" }, "Behind them"), background));
  const search = element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        answer();
      },
    },
    element("label", { for: "words" }, "Words"),
    words,
    form.place,
    element("button", { type: "submit", class: "plain" }, "Draw"),
  );
  search.addEventListener("change", (event) => {
    if (event.target.id === "corpus")
      visit(
        addressOf("/map", { corpus: form.corpus(), words: words.value.split(/[\s,]+/), model: given.get("model") }),
      );
  });
  main.replaceChildren(heading, lede, search, told, shown, there.keeps ? noteForm() : "");
  await answer(false);

  function draw(answered, values) {
    const points = answered.points,
      all = points.flatMap((point) => [
        [point.x, point.y, point.major],
        ...(point.own_x === null ? [] : [[point.own_x, point.own_y, 0]]),
      ]);
    const reach = (place, sign) => Math.max(...all.map((point) => sign * point[place] + point[2]));
    const spanX = reach(0, 1) + reach(0, -1),
      spanY = reach(1, 1) + reach(1, -1);
    let WIDTH = 1000,
      HEIGHT = 640,
      start = null,
      view = null;
    const behind = element("canvas", { "aria-hidden": "true" });
    const picture = element("svg", { role: "group", "aria-label": "Words on a plane", tabindex: "0" });
    const plane = element("div", { class: "map" }, behind, picture);

    // As large as there is room, a unit a pixel, so that words are readable on a phone; all of it in sight.
    function begin() {
      if (!plane.clientWidth || (view && plane.clientWidth === WIDTH)) return;
      WIDTH = plane.clientWidth;
      HEIGHT = Math.round(WIDTH < 600 ? 1.15 * WIDTH : 0.6 * WIDTH);
      picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
      [behind.width, behind.height] = [2 * WIDTH, 2 * HEIGHT];
      const fit = 0.86 * Math.min((WIDTH - 60) / Math.max(spanX, 1e-6), HEIGHT / Math.max(spanY, 1e-6));
      start = {
        scale: fit,
        x: WIDTH / 2 - 30 - (fit * (reach(0, 1) - reach(0, -1))) / 2,
        y: HEIGHT / 2 + (fit * (reach(1, 1) - reach(1, -1))) / 2,
      };
      view = { ...start };
      redraw();
    }
    new ResizeObserver(begin).observe(plane);
    const px = (x) => view.x + view.scale * x,
      py = (y) => view.y - view.scale * y;

    function redraw() {
      const boxes = points.map((point) => [px(point.x) - 5, py(point.y) - 5, px(point.x) + 5, py(point.y) + 5]),
        label = (x, y, text) => {
          // words do not lie on each other, nor on points
          const long = 8.2 * text.length + 4,
            from = x + 8 + long > WIDTH ? x - 8 - long : x + 8,
            hit = (at) =>
              boxes.some((box) => from < box[2] && box[0] < from + long && at - 12 < box[3] && box[1] < at + 4);
          const row = [0, 14, -14, 28, -28, 42, -42, 56].map((shift) => y + 5 + shift).find((at) => !hit(at)) ?? y + 5;
          boxes.push([from, row - 12, from + long, row + 4]);
          return [from, row];
        };
      const placed = points.map((point) => label(px(point.x), py(point.y), point.word));
      const front = points.flatMap((point, which) => {
        const colour = COLOURS[which % 7],
          at = [px(point.x), py(point.y)];
        const ring = element("ellipse", {
          class: `ring ${colour}`,
          cx: at[0],
          cy: at[1],
          rx: view.scale * point.major,
          ry: view.scale * point.minor,
          transform: `rotate(${(-180 * point.angle) / Math.PI} ${at[0]} ${at[1]})`,
        });
        const arrow =
          point.own_x === null
            ? []
            : [
                element("line", {
                  class: `curve ${colour}`,
                  x1: px(point.own_x),
                  y1: py(point.own_y),
                  x2: at[0],
                  y2: at[1],
                }),
                head(px(point.own_x), py(point.own_y), ...at, colour),
              ];
        return [ring, ...arrow, element("circle", { class: `point ${colour}`, cx: at[0], cy: at[1], r: 4 })];
      });
      front.push(
        ...points.map((point, which) =>
          svgLink(
            addressOf("/word", { corpus: values.corpus, where: values.where, phrase: point.word }),
            element(
              "text",
              { class: `label haloed ${COLOURS[which % 7]}`, x: placed[which][0], y: placed[which][1] },
              point.word,
            ),
          ),
        ),
      );
      picture.replaceChildren(...front);
      const pen = behind.getContext("2d"),
        look = getComputedStyle(document.body),
        { words: names, x, y } = answered.background;
      pen.clearRect(0, 0, behind.width, behind.height);
      pen.fillStyle = look.getPropertyValue("--soft");
      pen.globalAlpha = 0.35;
      const seen = [];
      for (let place = 0; place < x.length; place += 1) {
        const across = 2 * px(x[place]),
          down = 2 * py(y[place]);
        if (across > 0 && down > 0 && across < behind.width && down < behind.height) {
          pen.fillRect(across - 1, down - 1, 3, 3);
          if (seen.length < 400) seen.push(place);
        }
      }
      pen.globalAlpha = 0.8;
      pen.font = `${WIDTH < 600 ? 22 : 24}px ${look.getPropertyValue("--sans")}`;
      const taken = [];
      for (const place of seen) {
        const across = 2 * px(x[place]),
          down = 2 * py(y[place]);
        if (
          taken.length < 60 &&
          !taken.some((other) => Math.abs(other[0] - across) < 150 && Math.abs(other[1] - down) < 30)
        ) {
          taken.push([across, down]);
          pen.fillText(names[place], across + 6, down + 6);
        }
      }
    }

    function zoom(factor, x = WIDTH / 2, y = HEIGHT / 2) {
      const scale = Math.max(start.scale / 20, Math.min(start.scale * 200, view.scale * factor));
      view = { scale, x: x - ((x - view.x) * scale) / view.scale, y: y - ((y - view.y) * scale) / view.scale };
      soon();
    }

    let waiting = false;
    const soon = () => {
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(() => {
          waiting = false;
          redraw();
        });
      }
    };
    const place = (event) => {
      const box = picture.getBoundingClientRect();
      return [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * HEIGHT) / box.height];
    };
    picture.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...place(event));
      },
      { passive: false },
    );
    let from = null;
    picture.addEventListener("pointerdown", (event) => {
      from = [...place(event), view.x, view.y];
    });
    picture.addEventListener("pointermove", (event) => {
      if (from && event.buttons) {
        const [x, y] = place(event);
        view = { ...view, x: from[2] + x - from[0], y: from[3] + y - from[1] };
        soon();
      }
    });
    picture.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (moves) {
        view = { ...view, x: view.x + moves[0], y: view.y + moves[1] };
        soon();
      } else if (event.key === "+" || event.key === "=") zoom(1.3);
      else if (event.key === "-") zoom(1 / 1.3);
      else if (event.key === "0") {
        view = { ...start };
        soon();
      } else return;
      event.preventDefault();
    });
    const button = (label, name, act) =>
      element("button", { type: "button", class: "plain", "aria-label": name, onclick: act }, label);
    const buttons = element(
      "div",
      { class: "zoom" },
      button("+", "Zoom in", () => zoom(1.3)),
      button("−", "Zoom out", () => zoom(1 / 1.3)),
      button("All", "Show all", () => {
        view = { ...start };
        soon();
      }),
    );
    const rows = points.map((point) => [
      point.word,
      point.contexts,
      ...["x", "y", "own_x", "own_y", "major"].map((name) => (point[name] === null ? "none" : point[name].toFixed(3))),
    ]);
    return {
      place: element(
        "div",
        {},
        buttons,
        plane,
        table("Words on a plane", ["word", "uses", "x", "y", "own x", "own y", "doubt"], rows),
      ),
      picture,
      behind,
      begin,
    };
  }
}

function head(x1, y1, x2, y2, colour) {
  const angle = Math.atan2(y2 - y1, x2 - x1),
    corner = (turn) => `${x2 - 11 * Math.cos(angle + turn)},${y2 - 11 * Math.sin(angle + turn)}`;
  return element("polygon", { class: `point ${colour}`, points: `${x2},${y2} ${corner(0.4)} ${corner(-0.4)}` });
}
