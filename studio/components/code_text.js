// A text with line numbers: marks the lines of what is chosen and the line of a mistake, and says what was
// typed once the typing pauses. The text belongs to whoever typed last; nothing typed is ever overwritten.

const PAUSE = 450;
const LINE = 18;
const views = new WeakMap(); // parent element -> CodeText

class CodeText {
  constructor(parent) {
    this.typed = 0;
    this.root = document.createElement("section");
    this.root.className = "code-text";
    this.root.innerHTML = '<div class="gutter" aria-hidden="true"><div></div></div><div class="sheet"><div class="bands" aria-hidden="true"><div></div></div><textarea spellcheck="false" wrap="off" autocomplete="off" autocapitalize="off"></textarea></div>';
    this.numbers = this.root.querySelector(".gutter div");
    this.bands = this.root.querySelector(".bands div");
    this.area = this.root.querySelector("textarea");
    parent.append(this.root);
    this.area.addEventListener("input", () => { this.typed++; this.dirty = true; this.number(); this.later(); });
    this.area.addEventListener("blur", () => this.say());
    this.area.addEventListener("scroll", () => this.scroll());
    this.area.addEventListener("keydown", event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.say(); } });
    this.area.addEventListener("click", () => this.where());
    this.area.addEventListener("keyup", event => { if (/^(Arrow|Page|Home|End)/.test(event.key)) this.where(); });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say(), PAUSE);
  }

  say() {
    clearTimeout(this.timer);
    if (!this.dirty) return;
    this.dirty = false;
    this.component.setStateValue("typed", { text: this.area.value, n: this.typed });
    this.root.dataset.said = String(this.typed);
  }

  // Which line the caret is on, for the picture to follow.
  where() {
    const line = this.area.value.slice(0, this.area.selectionStart).split("\n").length;
    if (line === this.line) return;
    this.line = line;
    clearTimeout(this.pointer);
    this.pointer = setTimeout(() => this.component.setStateValue("line", { line, n: (this.moves = (this.moves || 0) + 1) }), 250);
  }

  update(component) {
    const data = component.data;
    this.component = component;
    this.typed = Math.max(this.typed, data.heard);
    this.area.setAttribute("aria-label", data.label);
    this.area.readOnly = data.readonly;
    this.root.style.height = `${data.height}px`;
    if (data.heard >= this.typed && data.text !== this.area.value) this.replace(data.text);
    this.mark(data);
    this.number();
  }

  replace(text) {
    const { selectionStart, scrollTop, scrollLeft } = this.area;
    const focused = this.root.getRootNode().activeElement === this.area;
    this.area.value = text;
    if (focused) this.area.setSelectionRange(Math.min(selectionStart, text.length), Math.min(selectionStart, text.length));
    this.area.scrollTop = scrollTop;
    this.area.scrollLeft = scrollLeft;
  }

  mark(data) {
    this.bands.replaceChildren();
    const band = (kind, first, last) => {
      const made = document.createElement("div");
      made.className = kind;
      made.style.top = `${(first - 1) * LINE}px`;
      made.style.height = `${(last - first + 1) * LINE}px`;
      this.bands.append(made);
    };
    if (data.chosen) band("chosen", ...data.chosen);
    if (data.fault) band("fault", data.fault[0], data.fault[0]);
    this.fault = data.fault ? data.fault[0] : 0;
    const target = data.fault ? data.fault[0] : data.chosen ? data.chosen[0] : 0, jump = `${data.fault}|${data.chosen}`;
    const typing = this.root.getRootNode().activeElement === this.area;
    if (target && jump !== this.jump && !typing) this.area.scrollTop = Math.max(0, (target - 4) * LINE);
    this.jump = jump;
    this.area.setAttribute("aria-invalid", String(Boolean(data.fault)));
  }

  number() {
    const count = this.area.value.split("\n").length, key = `${count}|${this.fault}`;
    if (key !== this.numbered) {
      this.numbers.replaceChildren(...Array.from({ length: count }, (_, at) => {
        const line = document.createElement("span");
        line.textContent = String(at + 1);
        if (at + 1 === this.fault) line.className = "bad";
        return line;
      }));
      this.numbered = key;
    }
    this.scroll();
  }

  scroll() {
    this.numbers.style.transform = `translateY(${-this.area.scrollTop}px)`;
    this.bands.style.transform = `translateY(${-this.area.scrollTop}px)`;
  }
}

export default function (component) {
  const parent = component.parentElement;
  let view = views.get(parent);
  if (!view) { view = new CodeText(parent); views.set(parent, view); }
  view.update(component);
  return () => { view.say(); view.root.remove(); views.delete(parent); };
}
