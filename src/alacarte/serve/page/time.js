// Over time: a phrase by the periods of a column, on one side or two.

import { addressOf, ask, conditions, element, named, quoted, say, shell, sliced, tools, whole } from "./common.js";
import { overTime } from "./charts.js";

// `sides` have a form (the corpus) and values (what is asked); `remember` is told the column and the words.
export function time(sides, others, before, model, remember) {
  const columns = sides[0].form.chosen.columns.filter((item) => sides.every((side) => side.form.chosen.columns.some((column) => column.name === item.name)));
  const column = element("select", { id: "over" }, element("option", { value: "" }, "choose a column of dates or numbers"),
    columns.map((item) => element("option", { value: item.name, selected: item.name === before }, item.name)));
  const words = element("input", { id: "over-words", value: others.join(" "), autocomplete: "off" });
  const shown = element("div", { "aria-live": "polite" });

  async function draw(push = true) {
    const list = words.value.split(/\s+/).filter(Boolean).slice(0, 7);
    if (push) remember(column.value, list);
    if (!column.value) { shown.replaceChildren(); return; }
    try {
      const drawn = await Promise.all(sides.map((side) => one(side, list)));
      shown.replaceChildren(element("div", { class: sides.length > 1 ? "two" : "" }, drawn.map((part) => element("div", {}, part))));
    } catch (error) { say(shown, error); }
  }

  async function one({ form, values }, list) {
    const { rows } = await ask("/api/over", { ...values, column: column.value, words: list, model: model.name });
    const where = values.where.length ? `, ${values.where.join(", ")}` : "";
    const charts = [
      list.length ? overTime(rows, `How like ${list.join(", ")} ${values.phrase} is, by ${column.value}${where}, with 95 percent bands`) : null,
      overTime([...new Map(rows.map((row) => [row.period, { ...row, other: "" }])).values()], `How often ${values.phrase} is used, by ${column.value}${where}`),
    ].filter(Boolean);
    const python = `from alacarte import ALaCarte, Concordance\nfrom alacarte.concordance import over_periods\n\nmodel = ${model.python}\n`
      + `over_periods(${sliced(form.chosen.path, values.where)}, model, ${quoted(values.phrase)}, ${quoted(column.value)}, ${JSON.stringify(list)})`;
    const command = shell("alc", "concordance", "over", form.chosen.path, ...named(values.phrase), "--by", column.value, ...list.flatMap((other) => ["--like", other]), ...conditions("--where", values.where), ...model.options);
    const periods = [...new Map(rows.map((row) => [row.period, row])).values()];
    return [
      where ? element("h3", {}, values.where.join(", ")) : "", element("div", { class: sides.length > 1 ? "" : "two" }, charts.map((chart) => chart.place)),
      element("p", { class: "hint" }, "The lines behind each: ", periods.flatMap((row) => [element("a", { href: addressOf("/word", { ...values, where: [...values.where, ...row.where] }) }, `${row.period} (${whole(row.uses)})`), " "])),
      tools({ rows: rows.map(({ where: _, ...row }) => row), name: `${values.phrase} by ${column.value}`, python, command, pictures: charts.map((chart) => chart.picture) }),
    ];
  }

  for (const input of [column, words]) input.addEventListener("change", () => draw());
  if (column.value) draw(false);
  return element("div", {}, element("div", { class: "asks" }, element("div", {}, element("label", { for: "over" }, "Column"), column),
    element("div", {}, element("label", { for: "over-words" }, "Likeness to"), words)), shown);
}
