// Over time: a phrase by the periods of a column, on one side or two.

import {
  addressOf,
  ask,
  conditions,
  counted,
  current,
  element,
  isKnown,
  named,
  quoted,
  remember,
  say,
  script,
  shell,
  sliced,
  UNKNOWN,
  whole,
} from "./common.js";
import { tools } from "./share.js";
import { isOrdered } from "./slices.js";
import { COLOURS, likenessRange, overTime, periodName } from "./charts.js";

// `sides` have a form (the corpus), values (what is asked) and a name; with two, each word has a picture of its own in
// which the colours are the sides.
export function time(sides, others, before, model) {
  const ordered = (side, name) => side.form.chosen.columns.some((column) => column.name === name && isOrdered(column));
  const columns = sides[0].form.chosen.columns.filter(({ name }) => sides.every((side) => ordered(side, name)));
  if (!columns.length) return element("p", { class: "hint" }, "No column has dates or numbers.");
  const column = element(
    "select",
    { id: "over" },
    element("option", { value: "" }, "choose a column of dates or numbers"),
    columns.map((item) => element("option", { value: item.name, selected: item.name === before }, item.name)),
  );
  const words = element("input", { id: "over-words", value: others.join(" "), autocomplete: "off" });
  const shown = element("div", { "aria-live": "polite" });

  function draw(changed = true) {
    const list = words.value.split(/\s+/).filter(Boolean).slice(0, 7),
      by = column.value;
    if (changed) remember({ over: by, with: list });
    return current(
      shown,
      async (signal) => {
        if (!by) {
          shown.replaceChildren();
          return;
        }
        const answers = await Promise.all(
          sides.map(({ values }) =>
            ask("/api/over", { ...values, column: by, words: list, model: model.name }, false, signal),
          ),
        );
        shown.replaceChildren(
          ...drawn(
            answers.map((answer) => answer.rows),
            list,
            by,
          ),
        );
      },
      (error) => say(shown, error),
    );
  }

  function drawn(answers, list, by) {
    const { phrase } = sides[0].values,
      several = sides.length > 1,
      periods = inOrder(answers);
    const used = answers.map((rows) => [...new Map(rows.map((row) => [row.period, row])).values()]);
    const evidence = (side, row) =>
      addressOf("/word", { ...sides[side].values, where: [...sides[side].values.where, ...row.where] });
    const told = (row, more) => `${periodName(row.period)}: ${more}; ${counted(row.uses, "use")}`;
    const curve = (side, word, name, colour) => ({
      name,
      colour,
      points: answers[side]
        .filter((row) => row.other === word)
        .map((row) => {
          const known = row.estimate !== null && isKnown(row);
          return {
            period: row.period,
            uses: row.uses,
            value: row.estimate,
            low: row.conf_low,
            high: row.conf_high,
            known,
            title: told(
              row,
              known
                ? `${word} ${row.estimate.toFixed(2)} (${row.conf_low.toFixed(2)} to ${row.conf_high.toFixed(2)})`
                : `${word}, ${UNKNOWN}`,
            ),
            href: evidence(side, row),
          };
        }),
    });
    const often = (side, name, colour) => ({
      name,
      colour,
      points: used[side].map((row) => ({
        // null in a period without documents: a gap in the curve
        period: row.period,
        uses: row.uses,
        value: row.per_million,
        known: row.per_million !== null,
        title: told(row, `${row.per_million?.toFixed(1)} a million words`),
        href: evidence(side, row),
      })),
    });
    const range = likenessRange(answers.flat()),
      most = Math.max(1, ...used.flat().map((row) => row.per_million)) * 1.05;
    const size = several ? { most: 420, tall: 240 } : {},
      pictures = [];
    const add = (title, curves, scale, label) => {
      const chart = overTime(curves, periods, scale, label, size);
      pictures.push(chart.picture);
      return element("figure", {}, element("figcaption", {}, title), chart.place);
    };
    const figures =
      list.length === 0
        ? []
        : several
          ? list.map((word) =>
              add(
                `How like ${word}`,
                sides.map((side, which) => curve(which, word, side.name, COLOURS[which])),
                range,
                `How like ${word} ${phrase} is on either side, by ${by}, with 95 percent bands`,
              ),
            )
          : [
              add(
                "How like these words it is",
                list.map((word, which) => curve(0, word, word, COLOURS[which])),
                range,
                `How like ${list.join(", ")} ${phrase} is, by ${by}, with 95 percent bands`,
              ),
            ];
    figures.push(
      add(
        "Uses in a million words",
        sides.map((side, which) => often(which, several ? side.name : "", COLOURS[which])),
        [0, most],
        `How often ${phrase} is used, by ${by}`,
      ),
    );
    const doubtful = answers.flat().some((row) => row.other && row.uses && !(row.estimate !== null && isKnown(row)));
    const corpora = sides.map(({ form, values }) => sliced(form.chosen.path, values.where));
    const python = script(
      model,
      phrase,
      [
        `for corpus in [${corpora.join(", ")}]:`,
        `    print(over_periods(corpus, model, target, ${quoted(by)}, ${JSON.stringify(list)}))`,
      ],
      { names: ["Concordance"], imports: ["from alacarte.concordance import over_periods"] },
    );
    const command = sides
      .map(({ form, values }) =>
        shell(
          "alc",
          "concordance",
          "over",
          form.chosen.path,
          ...named(phrase),
          "--by",
          by,
          ...list.flatMap((other) => ["--like", other]),
          ...conditions("--where", values.where),
          ...model.options,
        ),
      )
      .join("\n");
    return [
      element("div", { class: several ? "small" : "" }, figures),
      doubtful ? element("p", { class: "hint" }, `Grey, at the foot: ${UNKNOWN}.`) : "",
      element(
        "details",
        { class: "hint" },
        element("summary", {}, "The lines behind each period"),
        used.map((rows, side) =>
          element(
            "p",
            {},
            several ? `${sides[side].name}: ` : "",
            rows.flatMap((row) => [
              element("a", { href: evidence(side, row) }, `${periodName(row.period)} (${whole(row.uses)})`),
              " ",
            ]),
          ),
        ),
      ),
      tools({
        rows: answers.flatMap((rows, side) =>
          rows.map(({ where: _where, ...row }) => (several ? { side: sides[side].name, ...row } : row)),
        ),
        name: `${phrase} by ${by}`,
        python,
        command,
        pictures,
      }),
    ];
  }

  for (const input of [column, words]) input.addEventListener("change", () => draw());
  if (column.value) draw(false);
  return element(
    "div",
    {},
    element(
      "div",
      { class: "asks" },
      element("div", {}, element("label", { for: "over" }, "Column"), column),
      element("div", {}, element("label", { for: "over-words" }, "Likeness to"), words),
    ),
    shown,
  );
}

// The periods of all sides; two corpora may be cut at different places.
function inOrder(answers) {
  const lists = answers.map((rows) => [...new Set(rows.map((row) => row.period))]),
    all = [...new Set(lists.flat())];
  const begins = (name) => Number(/\d+(\.\d+)?/.exec(name)?.[0] ?? -Infinity);
  return all.length === lists[0].length ? all : all.sort((one, two) => begins(one) - begins(two));
}
