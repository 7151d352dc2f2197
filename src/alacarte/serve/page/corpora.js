// Corpora: what there is, sending texts, building from them, stopping and going on.

import { about, ask, counted, element, forgetAbout, go, keyed, say, state, whole } from "./common.js";

const EVERY = 400; // milliseconds between two looks at a build
const AGAIN = 1000; // milliseconds until a server that is away is asked again

export async function corpora(main) {
  const there = await about();
  const view = new Corpora(there);
  main.replaceChildren(
    element("h1", {}, "Which texts?"),
    element(
      "p",
      { class: "lede" },
      "A corpus is text that was read once and can be questioned from then on. Nothing leaves this machine.",
    ),
    view.wrong,
    element(
      "div",
      { class: "two" },
      view.place,
      element("div", {}, there.keeps ? [view.sending(), view.building()] : "", modelChoice(there)),
    ),
  );
  await view.refresh().catch((error) => view.failed(error));
}

const button = (label, name, act) =>
  element("button", { type: "button", class: "plain", "aria-label": name, onclick: act }, label);

function size(bytes) {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

// A list under a heading; hidden while it is empty.
function listed(heading, ...more) {
  const items = element("ul", { class: "things" });
  return { items, place: element("section", { hidden: true }, element("h2", {}, heading), items, ...more) };
}

class Corpora {
  constructor(there) {
    Object.assign(this, { there, chosen: new Set(), timer: null });
    this.wrong = element("div", {});
    this.sent = element("p", { class: "hint", role: "status" });
    this.none = element("p", { class: "hint" }, "None yet.");
    this.folder = element("code", {});
    const hint = ["Send files, or put them into ", this.folder, ". Plain text (a document a line), JSON lines, CSV, "];
    this.corpora = listed("Corpora");
    this.builds = listed("Being built");
    this.texts = listed("Texts", this.none, element("p", { class: "hint" }, hint, "Parquet; compressed ones too."));
    const lists = [this.corpora, this.builds, this.texts].map((list) => list.place);
    this.place = element("div", { "aria-live": "polite" }, lists);
  }

  // ------------------------------------------------------------------------------------------------- what there is

  async refresh() {
    clearTimeout(this.timer);
    const now = await ask("/api/corpora");
    let there = await about();
    if (now.corpora.some(({ name }) => !there.damaged[name] && !there.corpora.some((item) => item.name === name))) {
      forgetAbout(); // there is a new one
      there = await about();
    }
    this.draw(now, there);
    const going = now.builds.some((item) => item.state === "building");
    if (going) this.later(EVERY);
  }

  later(wait) {
    const again = () => this.refresh().then(() => this.wrong.replaceChildren());
    this.timer = setTimeout(() => {
      if (this.place.isConnected) again().catch((error) => this.failed(error));
    }, wait);
  }

  // A server that is away is asked again until it is back.
  failed(error) {
    say(this.wrong, error.away ? new Error("The server does not answer; trying again …") : error);
    if (error.away) this.later(AGAIN);
  }

  draw(now, there) {
    const described = new Map(there.corpora.map((item) => [item.name, item]));
    const corpora = now.corpora.map((item) => ({
      ...item,
      more: described.get(item.name),
      wrong: there.damaged[item.name],
    }));
    const isKnown = (item) => [item.name, item.more?.documents, item.wrong].join("\n");
    keyed(this.corpora.items, corpora, isKnown, (item) => this.corpus(item));
    keyed(
      this.builds.items,
      now.builds,
      (item) => [item.name, item.state, item.message].join("\n"),
      (item) => this.build(item),
      progressed,
    );
    keyed(
      this.texts.items,
      now.texts,
      (item) => item.name,
      (item) => this.text(item),
      (child, item) => {
        child.querySelector("input").checked = this.chosen.has(item.name);
      },
    );
    this.corpora.place.hidden = !corpora.length;
    this.builds.place.hidden = !now.builds.length;
    this.texts.place.hidden = !now.folder;
    this.none.hidden = now.texts.length > 0;
    this.folder.textContent = now.folder ?? "";
  }

  corpus(item) {
    const { name, more, wrong } = item;
    const forget = () => {
      if (confirm(`Delete the corpus ${name}? Its texts stay.`)) this.act("/api/corpus/delete", { name });
    };
    const size_ = more ? ` ${counted(more.documents, "document")}, ${counted(more.tokens, "word")} ` : " ";
    return element(
      "li",
      {},
      element("a", { href: `/word?corpus=${encodeURIComponent(name)}` }, name),
      size_,
      wrong ? element("span", { class: "wrong" }, wrong, " ") : "",
      item.ours ? button("Delete", `Delete ${name}`, forget) : "",
    );
  }

  build(item) {
    const { name } = item;
    const title = [element("b", {}, name), " "];
    const act = (label, about_, path) => button(label, `${about_} ${name}`, () => this.act(path, { name }));
    if (item.state === "building") {
      const bar = element("progress", { "aria-label": name });
      const made = element("li", {}, title, bar, " ", act("Stop", "Stop", "/api/build/cancel"));
      progressed(made, item);
      return made;
    }
    const kind = item.state === "failed" ? "wrong" : "hint";
    const why = `${item.state}${item.message ? `: ${item.message}` : ""} `;
    const again = act("Go on", "Go on with", "/api/build/resume");
    return element(
      "li",
      {},
      title,
      element("span", { class: kind }, why),
      again,
      " ",
      act("Delete", "Delete", "/api/corpus/delete"),
    );
  }

  text(item) {
    const { name } = item;
    const onchange = (event) => (event.target.checked ? this.chosen.add(name) : this.chosen.delete(name));
    const box = element("input", { type: "checkbox", id: `text-${name}`, checked: this.chosen.has(name), onchange });
    const forget = () => {
      if (!confirm(`Delete the text ${name}?`)) return;
      this.chosen.delete(name);
      this.act("/api/text/delete", { name });
    };
    const label = element("label", { for: box.id, class: "inline" }, name);
    return element("li", {}, box, " ", label, ` ${size(item.bytes)} `, button("Delete", `Delete ${name}`, forget));
  }

  async act(path, values) {
    try {
      this.wrong.replaceChildren();
      await ask(path, values, true);
      forgetAbout();
      await this.refresh();
    } catch (error) {
      this.failed(error);
    }
  }

  // ------------------------------------------------------------------------------------------------------ more of it

  sending() {
    const file = element("input", { id: "file", type: "file", multiple: true });
    file.addEventListener("change", async () => {
      for (const each of file.files) {
        try {
          this.wrong.replaceChildren();
          await send(each, this.sent);
          this.chosen.add(each.name);
        } catch (error) {
          say(this.wrong, error);
        }
      }
      file.value = "";
      await this.refresh().catch((error) => this.failed(error));
    });
    return [element("h2", {}, element("label", { for: "file" }, "Send texts")), file, this.sent];
  }

  building() {
    const name = element("input", { id: "name", autocomplete: "off", required: true, "data-search": true });
    const text = element("input", { id: "text", placeholder: "text", autocomplete: "off" });
    const columns = element("input", { id: "columns", placeholder: "date, party", autocomplete: "off" });
    const onsubmit = (event) => {
      event.preventDefault();
      const kept = columns.value.split(",").map((part) => part.trim());
      const values = { name: name.value.trim(), texts: [...this.chosen], text: text.value.trim() };
      this.act("/api/build", { ...values, columns: kept.filter(Boolean) });
    };
    const field = (input, label) => element("div", {}, element("label", { for: input.id }, label), input);
    const form = element(
      "form",
      { onsubmit },
      element(
        "div",
        { class: "asks" },
        field(name, "Name of the corpus"),
        field(text, "Field or column with the text (JSON, CSV, Parquet)"),
        field(columns, "Fields or columns to keep, with commas"),
      ),
      element("button", { type: "submit", class: "plain" }, "Build"),
    );
    return [element("h2", {}, "Build a corpus from the chosen texts"), form];
  }
}

// How far a build has come.
function progressed(made, item) {
  const bar = made.querySelector("progress");
  if (!bar) return;
  if (item.total) Object.assign(bar, { max: item.total, value: item.done });
  else bar.removeAttribute("value");
}

// Sends a file; how far it has come is said in `sent`.
function send(file, sent) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/upload?name=${encodeURIComponent(file.name)}`);
    request.upload.addEventListener("progress", (event) => {
      sent.textContent = `${file.name}: ${size(event.loaded)} of ${size(event.total)}`;
    });
    request.addEventListener("load", () => {
      sent.textContent = "";
      if (request.status === 200) {
        done();
        return;
      }
      let said = `The server did not take ${file.name} (status ${request.status})`;
      try {
        said = JSON.parse(request.responseText).error;
      } catch {
        // a proxy's answer, which is no JSON
      }
      fail(new Error(said));
    });
    request.addEventListener("error", () => fail(new Error(`${file.name} could not be sent; is the server running?`)));
    request.send(file);
  });
}

function modelChoice(there) {
  const now = state().get("model");
  const option = ({ name }) => element("option", { value: name, selected: name === now }, name);
  const onchange = (event) => {
    const { value } = event.target;
    go("/corpora", { model: value === there.models[0].name ? "" : value });
  };
  const known = `${whole(there.vectors.words)} words, ${there.vectors.dimensions} dimensions.`;
  return [
    element("h2", {}, element("label", { for: "model" }, "Model")),
    element("select", { id: "model", onchange }, there.models.map(option)),
    element("p", { class: "hint" }, `${known} Corpora are built for the vectors of the first one.`),
  ];
}
