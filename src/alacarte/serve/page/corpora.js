// Corpora: what there is, sending texts, building from them, stopping and going on.

import { about, addressOf, ask, counted, element, forgetAbout, go, keyed, say, state, visit, whole } from "./common.js";
import { Preview } from "./preview.js";

const EVERY = 400; // milliseconds between two looks at a build
const AGAIN = 1000; // milliseconds until a server that is away is asked again

let dropped = []; // files that wait for this view

// Files that were dropped onto any view.
export function take(files) {
  dropped = files;
}

export async function corpora(main) {
  const there = await about();
  const view = new Corpora(there);
  await view.refresh().catch((error) => view.failed(error));
  main.replaceChildren(
    element("h1", {}, "Which texts?"),
    element(
      "p",
      { class: "lede" },
      "A corpus is text that was read once and can be questioned from then on. Nothing leaves this machine.",
    ),
    there.keeps ? view.sending() : "",
    view.wrong,
    view.preview.place,
    element("div", { class: "two" }, view.place, element("div", {}, modelChoice(there))),
  );
  const files = dropped;
  dropped = [];
  if (files.length) await view.send(files);
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
    this.there = there;
    this.chosen = new Set();
    this.timer = null;
    this.known = new Map();
    this.begun = new Map();
    this.waiting = "";
    this.preview = new Preview((values) => this.begin(values));
    this.wrong = element("div", {});
    this.sent = element("p", { class: "hint", role: "status" });
    this.none = element("p", { class: "hint" }, "None yet.");
    this.folder = element("code", {});
    const hint = ["Choose those that a corpus is to be built from. Large files can be put into ", this.folder, "."];
    this.corpora = listed("Corpora");
    this.builds = listed("Being built");
    this.texts = listed("Texts", this.none, element("p", { class: "hint" }, hint));
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
    if (this.waiting && there.corpora.some(({ name }) => name === this.waiting)) {
      visit(addressOf("/start", { corpus: this.waiting }));
      return;
    }
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
    this.known = new Map(now.texts.map((item) => [item.name, item.bytes]));
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
      (made, item) => this.progressed(made, item),
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
      element("a", { href: addressOf("/start", { corpus: name }) }, name),
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
      const left = element("span", { class: "hint left" });
      const made = element("li", {}, title, bar, " ", left, " ", act("Stop", "Stop", "/api/build/cancel"));
      this.progressed(made, item);
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
    const onchange = (event) => {
      if (event.target.checked) this.chosen.add(name);
      else this.chosen.delete(name);
      this.preview.show([...this.chosen]);
    };
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
      await this.send([...file.files]);
      file.value = "";
    });
    const kinds = "CSV, TSV, JSON lines, Parquet or plain text, compressed or not; or a folder of them.";
    return element(
      "div",
      { class: "drop" },
      element("p", {}, "Drop a file anywhere on this page, or "),
      element("span", { class: "choice" }, file, element("label", { for: "file" }, "Choose a file")),
      element("p", { class: "hint" }, kinds),
      this.sent,
    );
  }

  // Sends files, one after the other, and shows the first; one that is there already is not sent again.
  async send(files) {
    this.wrong.replaceChildren();
    this.chosen.clear();
    for (const each of files) {
      try {
        if (this.known.get(each.name) !== each.size) await send(each, this.sent);
        this.chosen.add(each.name);
      } catch (error) {
        say(this.wrong, error);
      }
    }
    await this.refresh().catch((error) => this.failed(error));
    await this.preview.show([...this.chosen]);
  }

  async begin(values) {
    await this.act("/api/build", values);
    if (this.wrong.firstChild) return;
    this.waiting = values.name;
    this.chosen.clear();
    await this.preview.show([]);
    await this.refresh();
  }

  // How far a build has come, and how long it will go on at this pace.
  progressed(made, item) {
    const bar = made.querySelector("progress");
    if (!bar) return;
    if (!item.total) {
      bar.removeAttribute("value");
      return;
    }
    Object.assign(bar, { max: item.total, value: item.done });
    const now = performance.now();
    const first = this.begun.get(item.name) ?? { at: now, done: item.done };
    this.begun.set(item.name, first);
    const pace = (item.done - first.done) / (now - first.at);
    if (pace > 0) made.querySelector(".left").textContent = inWords((item.total - item.done) / pace / 1000);
  }
}

function inWords(seconds) {
  if (seconds < 90) return `about ${counted(Math.max(1, Math.round(seconds)), "second")} left`;
  return `about ${counted(Math.round(seconds / 60), "minute")} left`;
}

// Sends a file; how far it has come is said in `sent`.
function send(file, sent) {
  return /** @type {Promise<void>} */ (
    new Promise((done, fail) => {
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
      request.addEventListener("error", () =>
        fail(new Error(`${file.name} could not be sent; is the server running?`)),
      );
      request.send(file);
    })
  );
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
