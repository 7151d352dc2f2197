// Word: a word or phrase of a corpus, its lines, its likeness, over time, its senses, the lines that count most.

import { about, addressOf, ask, conditions, element, go, longQuestion, modelOf, named, noCorpus, noteForm, percent, quoted, say, shell, sliced, sliceForm, state, sure, tools, whole } from "./common.js";
import { likeness } from "./charts.js";
import { lineTable } from "./lines.js";
import { time } from "./time.js";

export async function word(main) {
  const there = await about();
  if (!there.corpora.length) { noCorpus(main); return; }
  const given = state(), model = await modelOf(), form = await sliceForm("", given.get("corpus"), given.getAll("where"));
  const phrase = element("input", { id: "phrase", type: "search", value: given.get("phrase") ?? "", autocomplete: "off" });
  const heading = element("h1", {}), lede = element("p", { class: "lede" }), near = element("div", { "aria-live": "polite" });
  const columns = form.chosen.columns.map((column) => column.name), table = lineTable(columns, form.corpus);
  const further = element("div", {});
  let sort = given.get("sort") ?? "";

  const asked = () => ({ corpus: form.corpus(), phrase: phrase.value.trim(), where: form.where() });
  const address = (values) => ["/word", { ...values, sort, model: given.get("model") }];
  table.onSort((order) => { sort = order; go(...address(asked()), true); });

  async function answer(push = true) {
    const values = asked();
    if (push) go(...address(values));
    table.clear();
    further.replaceChildren();
    if (!values.phrase) {
      heading.replaceChildren("Which word or phrase?");
      lede.textContent = `${whole(form.chosen.documents)} documents, ${whole(form.chosen.tokens)} words. Type one above and press Enter; * stands for any letters, as in immigr*.`;
      near.replaceChildren();
      return;
    }
    heading.replaceChildren(element("em", {}, values.phrase));
    lede.textContent = "…";
    try {
      const answered = await ask("/api/word", { ...values, model: given.get("model") ?? "" });
      lede.textContent = `${whole(answered.uses)} uses in ${whole(answered.documents)} documents.`;
      near.replaceChildren(...nearest(answered, values));
      await table.show(values, sort);
      further.replaceChildren(...more(values, answered));
    } catch (error) {
      lede.textContent = "";
      say(near, error);
    }
  }

  function nearest(answered, values) {
    const python = `from alacarte import ALaCarte, Concordance\n\nmodel = ${model.python}\ncorpus = ${sliced(form.chosen.path, values.where)}\n`
      + `induced = corpus.induce(model, [${quoted(values.phrase)}])\ninduced.uncertainty.nearest(${quoted(values.phrase)}, among=30_000)\ncorpus.lines(${quoted(values.phrase)})`;
    const command = [
      shell("alc", "concordance", "nearest", form.chosen.path, ...named(values.phrase), "--among", "30000", ...conditions("--where", values.where), ...model.options),
      shell("alc", "concordance", "lines", form.chosen.path, ...named(values.phrase), ...conditions("--where", values.where)),
    ].join("\n");
    if (!answered.nearest.length) return [element("p", { class: "hint" }, answered.reason), tools({ rows: null, name: values.phrase, python, command })];
    const chart = likeness(answered.nearest, `The words most like ${values.phrase} here, with 95 percent intervals`, (other) => addressOf("/word", { ...values, phrase: other }));
    return [sure(answered.confidence, "of what endless text of this kind would tell"), chart.place, tools({ rows: answered.nearest, name: values.phrase, python, command, pictures: [chart.picture] })];
  }

  function more(values, answered) {
    const parts = [];
    if (form.chosen.columns.length) {
      const others = given.getAll("with").length ? given.getAll("with") : answered.nearest.slice(0, 4).map((item) => item.other);
      const remember = (column, list) => go("/word", { ...values, sort, over: column, with: list, model: given.get("model") }, true);
      parts.push(element("h2", {}, "Over time"), time([{ form, values }], others, given.get("over"), model, remember));
    }
    parts.push(element("h2", {}, "The lines that count most"),
      longQuestion("Show the lines that made this vector", "/api/influence", () => ({ ...values, limit: 30, model: given.get("model") ?? "" }), showInfluence(values)));
    if (!values.phrase.includes("*")) {
      parts.push(element("h2", {}, "Senses"), longQuestion("Look for several senses", "/api/senses", () => ({ ...values, model: given.get("model") ?? "" }), showSenses(values)));
    }
    return parts;
  }

  const showInfluence = (values) => (answered, place) => {
    const largest = Math.max(...answered.lines.map((line) => Math.abs(line.share)), 1e-9);
    place.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lines that count most" }, element("table", { class: "lines" },
      element("thead", {}, element("tr", {}, ["share", "before", "match", "after", ...columns].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, answered.lines.map((line) => {
        const row = element("tr", { class: "share" }, element("td", { class: "value" }, `${(100 * line.share).toFixed(2)} %`), element("td", { class: "before" }, line.before), element("td", { class: "match" }, line.match), element("td", {}, line.after), columns.map((name) => element("td", { class: "value" }, String(line[name] ?? ""))));
        row.style.setProperty("--s", Math.round((16 * Math.abs(line.share)) / largest));
        return row;
      })))),
    tools({ rows: answered.lines, name: `${values.phrase} lines`, python: `from alacarte import ALaCarte, Concordance\n\nmodel = ${model.python}\n${sliced(form.chosen.path, values.where)}.influence(model, ${quoted(values.phrase)})`,
      command: shell("alc", "concordance", "influence", form.chosen.path, ...named(values.phrase), ...conditions("--where", values.where), ...model.options) }));
  };

  const showSenses = (values) => (answered, place) => {
    const count = answered.senses.length;
    place.replaceChildren(element("p", { class: "lede" }, count === 1 ? `One sense: the ${whole(answered.contexts)} uses do not fall into groups.` : `${count} senses, from ${whole(answered.contexts)} uses.`),
      element("div", { class: "senses" }, answered.senses.map((sense, number) => element("section", { class: `sense sense-${number}` },
        element("h3", {}, `${percent(sense.share)}: ${sense.nearest.slice(0, 5).map((item) => item.word).join(", ")}`),
        element("ul", {}, sense.examples.map((example) => element("li", {}, marked(example))))))),
      count > 1 ? element("details", {}, element("summary", {}, "Lines, in the colours of their senses"), element("ul", { class: "sense-lines" }, answered.lines.slice(0, 200).map((item) => element("li", { class: `sense-${item.sense}` }, marked(item.line))))) : "",
      tools({ rows: answered.senses.map((sense) => ({ name: sense.name, share: sense.share, contexts: sense.contexts, nearest: sense.nearest.map((item) => item.word).join(" ") })), name: `${values.phrase} senses`,
        python: `from alacarte import ALaCarte, Concordance, induce_senses\n\nmodel = ${model.python}\ninduce_senses(model, ${sliced(form.chosen.path, values.where)}, ${quoted(values.phrase)})`,
        command: values.where.length ? "" : shell("alc", "senses", "induce", ...named(values.phrase), "--corpus", form.chosen.path, ...model.options) }));
  };

  const search = element("form", { role: "search", onsubmit: (event) => { event.preventDefault(); answer(); } },
    element("div", { class: "asks" }, element("div", {}, element("label", { for: "phrase" }, "Word or phrase"), phrase)), form.place, element("button", { type: "submit", class: "plain" }, "Ask"));
  search.addEventListener("change", async (event) => {
    if (event.target.id === "corpus") { go("/word", { corpus: form.corpus(), phrase: phrase.value.trim() }); await word(main); }
    else if (event.target.tagName === "SELECT") answer();
  });
  main.replaceChildren(search, heading, lede, element("div", { class: "two wide-first" },
    element("div", {}, element("h2", {}, "The lines behind it"), table.place),
    element("div", { class: "answer" }, element("h2", {}, "Nearest words"), near)), further, there.keeps ? noteForm() : "");
  await answer(false);
}

// "a **word** here": what stands between the marks is the word itself.
export function marked(text) {
  return text.split("**").map((part, place) => (place % 2 ? element("b", {}, part) : part));
}
