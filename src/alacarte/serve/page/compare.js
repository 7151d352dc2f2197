// Compare: a word on two sides, or all words at once.

import { about, addressOf, ask, chance, conditions, element, go, longQuestion, modelOf, named, noCorpus, noteForm, number, quoted, say, shell, sliced, sliceForm, state, tools, whole } from "./common.js";
import { pairs, volcano } from "./charts.js";
import { lineTable } from "./lines.js";
import { time } from "./time.js";
import { marked } from "./word.js";

export async function compare(main) {
  const there = await about();
  if (!there.corpora.length) { noCorpus(main); return; }
  const given = state(), model = await modelOf();
  const one = await sliceForm("a", given.get("corpus"), given.getAll("where")), two = await sliceForm("b", given.get("other") ?? given.get("corpus"), given.getAll("other_where"));
  const phrase = element("input", { id: "phrase", type: "search", value: given.get("phrase") ?? "", autocomplete: "off" });
  const heading = element("h1", {}), lede = element("p", { class: "lede" }), shown = element("div", { "aria-live": "polite" }), everything = element("div", {}), further = element("div", {});
  const behind = element("h2", {}, "The lines behind it");
  const tables = [one, two].map((side) => lineTable(side.chosen.columns.map((column) => column.name), side.corpus));
  const names = () => [one, two].map((side) => [there.corpora.length > 1 && one.corpus() !== two.corpus() ? side.corpus() : "", ...side.where()].filter(Boolean).join(", ") || "all");
  const sides = () => ({ corpus: one.corpus(), where: one.where(), other: two.corpus(), other_where: two.where(), model: given.get("model") ?? "" });
  const address = (word) => addressOf("/compare", { ...sides(), phrase: word });
  const both = () => [...conditions("--where", one.where()), ...(two.corpus() !== one.corpus() ? ["--other", two.chosen.path] : []), ...conditions("--other-where", two.where()), ...model.options];
  const opening = () => `from alacarte import ALaCarte, Concordance, compare\n\nmodel = ${model.python}\na = ${sliced(one.chosen.path, one.where())}\nb = ${sliced(two.chosen.path, two.where())}\n`;

  async function answer(push = true) {
    const word = phrase.value.trim(), [a, b] = names();
    if (push) go("/compare", { ...sides(), phrase: word });
    shown.replaceChildren();
    further.replaceChildren();
    tables.forEach((table) => table.clear());
    behind.hidden = !word;
    if (!word) {
      heading.replaceChildren("Who uses which word how?");
      lede.textContent = "Choose two groups, periods or corpora. Ask about one word, or about all words at once.";
      return;
    }
    heading.replaceChildren(element("em", {}, word), `: ${a} and ${b}`);
    lede.textContent = "…";
    try {
      const answered = await ask("/api/compare", { ...sides(), phrase: word });
      lede.textContent = verdict(answered, word, a, b);
      const chart = pairs(answered.words, [a, b], `How like other words ${word} is on either side, with 95 percent intervals`, address);
      shown.replaceChildren(chart.place,
        tools({ rows: answered.words.map((item) => ({ word: item.word, a: item.a?.estimate, a_low: item.a?.conf_low, a_high: item.a?.conf_high, b: item.b?.estimate, b_low: item.b?.conf_low, b_high: item.b?.conf_high })), name: word,
          python: `${opening()}sides = [side.induce(model, [${quoted(word)}]) for side in (a, b)]\n[side.uncertainty.nearest(${quoted(word)}, among=30_000) for side in sides]\n\nfrom alacarte.inference.comparing import compare_uses\n\ncompare_uses(*sides, [${quoted(word)}])`,
          command: shell("alc", "concordance", "compare", one.chosen.path, ...named(word), ...both()), pictures: [chart.picture] }));
      if (one.chosen.columns.length && two.chosen.columns.length) {
        const others = given.getAll("with").length ? given.getAll("with") : answered.words.slice(0, 4).map((item) => item.word);
        const remember = (column, list) => go("/compare", { ...sides(), phrase: word, over: column, with: list }, true);
        const asked = [one, two].map((side) => ({ form: side, values: { corpus: side.corpus(), phrase: word, where: side.where() } }));
        further.replaceChildren(element("h2", {}, "Over time"), time(asked, others, given.get("over"), model, remember));
      }
      await Promise.all([one, two].map((side, place) => tables[place].show({ corpus: side.corpus(), phrase: word, where: side.where() })));
    } catch (error) {
      lede.textContent = "";
      say(shown, error);
    }
  }

  function verdict(answered, word, a, b) {
    const { difference } = answered, uses = `${whole(answered.sides[0].uses)} and ${whole(answered.sides[1].uses)} uses. `;
    if (difference.reason) return `${uses}Whether they differ cannot be told: ${difference.reason}`;
    const apart = `They lie ${number(difference.distance)} apart (${number(difference.conf_low)} to ${number(difference.conf_high)}; 0 is the same use). `;
    return `${uses}${apart}${difference.p_value <= 0.05 ? "The two use it differently" : "No difference is sure"}: the chance of as much by accident is ${chance(difference.p_value)}.`;
  }

  const all = longQuestion("Compare all words", "/api/differences", () => ({ ...sides(), least: 20 }), (answered, place) => {
    const [a, b] = names(), chart = volcano(answered.words, `All words: how far apart ${a} and ${b} are, and how sure`, address);
    const tested = answered.words.filter((item) => item.q_value !== null).length;
    place.replaceChildren(element("p", { class: "lede" }, chart.changed.length ? `${whole(chart.changed.length)} of ${whole(tested)} words are used differently; of these, one in twenty may be by accident.` : `None of ${whole(tested)} words is used differently beyond chance.`),
      chart.place, element("ol", { class: "changed" }, chart.changed.slice(0, 30).map((item) => {
        const lines = answered.contexts[item.word];
        return element("li", {}, element("a", { href: address(item.word) }, item.word), element("span", { class: "hint" }, ` ${number(item.distance)} apart (${number(item.conf_low)} to ${number(item.conf_high)})`),
          lines ? element("details", {}, element("summary", {}, "The lines that speak loudest"), element("div", { class: "two" }, [lines.a, lines.b].map((side, which) => element("div", {}, element("h3", { class: `label ${which ? "spelling" : "context"}` }, [a, b][which]), element("ul", {}, side.map((line) => element("li", {}, marked(bracketed(line))))))))) : "");
      })),
      tools({ rows: answered.words, name: `${a} and ${b}`, python: `${opening()}compare(model, a, b, min_count=20)`, command: shell("alc", "concordance", "compare", one.chosen.path, ...both()), pictures: [chart.picture] }));
  });
  everything.replaceChildren(element("h2", {}, "All words at once"), all);

  const form = element("form", { role: "search", onsubmit: (event) => { event.preventDefault(); answer(); } },
    element("div", { class: "two" }, [one, two].map((side, which) => element("fieldset", {}, element("legend", { class: `label ${which ? "spelling" : "context"}` }, which ? "And here" : "Here"), side.place))),
    element("div", { class: "asks" }, element("div", {}, element("label", { for: "phrase" }, "Word or phrase; empty for all words"), phrase)), element("button", { type: "submit", class: "plain" }, "Compare"));
  form.addEventListener("change", async (event) => {
    if (/^corpus-/.test(event.target.id)) { go("/compare", { ...sides(), phrase: phrase.value.trim() }); await compare(main); }
  });
  main.replaceChildren(form, heading, lede, shown,
    behind, element("div", { class: "two" }, tables.map((table) => element("div", {}, table.place))), further, everything, there.keeps ? noteForm() : "");
  await answer(false);
}

// The command marks a word as [word], the page as **word**.
const bracketed = (line) => line.replace(/\[([^\]]*)\]/, "**$1**");
