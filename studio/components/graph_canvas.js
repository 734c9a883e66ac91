// The picture of a workflow: draws what is in view of a given layout and reports what a person wants.
// Python works out every position and applies every edit; here nothing is routed and no data becomes
// markup: all text enters through text nodes. MARKS (shapes, icons, words) is put before this module.

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 520;
const instances = new WeakMap(); // parent element -> Canvas; the default export runs again on every update
const memories = new Map(); // view -> what must survive a remount: viewport, unsent ops, their numbering
let mounts = 0;

const STATUS_ORDER = ["COMPLETED", "COMPLETED_WITH_ERRORS", "RUNNING", "IN_PROGRESS", "SCHEDULED", "PAUSED", "FAILED",
  "FAILED_WITH_TERMINAL_ERROR", "TIMED_OUT", "CANCELED", "TERMINATED", "SKIPPED"];
const UI = { fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10", plus: "M8 3.5v9M3.5 8h9", minus: "M3.5 8h9" };
const LINE_STRENGTH = { not: 0, untested: 0, removed: 0, pending: 1 };

function make(space, tag, attributes = {}, ...children) {
  const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}
const svg = (tag, attributes, ...children) => make(SVG, tag, attributes, ...children);
const html = (tag, attributes, ...children) => make(null, tag, attributes, ...children);
const markOf = status => MARKS.statuses[status] || { ...MARKS.unknown, word: status };
const typeOf = type => MARKS.types[type] || { word: type || "No type", path: MARKS.types.SIMPLE.path };
const colour = tone => `--c: var(--${tone})`;
const icon = path => svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path }));
const strokes = shape => MARKS.shapes[shape].map(([role, d, dash]) => svg("path", { class: `stroke-${role}`, d, "stroke-dasharray": dash || null }));
const glyph = shape => svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, strokes(shape));
const label = (x, y, kind, text, anchor) => svg("text", { x, y, class: kind, "text-anchor": anchor }, text);
const statusMark = (status, text) => html("span", { class: "status", style: colour(markOf(status).tone) }, glyph(markOf(status).shape), text ?? markOf(status).word);

function shortened(text, limit) {
  if (text.length <= limit) return text;
  const head = Math.floor(limit / 2), tail = limit - 1 - head;
  return text.slice(0, head) + "…" + (tail > 0 ? text.slice(-tail) : "");
}
const cut = (text, limit) => (text.length <= limit ? text : text.slice(0, Math.max(limit - 1, 0)).trimEnd() + "…");

function rounded(points, radius) {
  let way = `M${points[0]}`;
  const last = points.length - 2;
  for (let i = 1; i <= last; i++) {
    const towards = (to, share) => {
      const [x, y] = points[i], [tx, ty] = points[to], length = Math.abs(tx - x) + Math.abs(ty - y) || 1;
      const part = Math.min(radius, length / share) / length;
      return [x + (tx - x) * part, y + (ty - y) * part];
    };
    way += `L${towards(i - 1, i === 1 ? 1 : 2)}Q${points[i]} ${towards(i + 1, i === last ? 1 : 2)}`;
  }
  return way + `L${points.at(-1)}`;
}

class Canvas {
  constructor(parent) {
    this.parent = parent;
    this.nodes = new Map();
    this.edges = new Map();
    this.drawn = new Map();
    this.state = { kind: "", nodes: {}, edges: {}, counts: {}, unplaced: [], problems: {}, notes: {} };
    this.build();
    this.listenToPointer();
    this.listenToKeys();
    this.root.dataset.mount = String(++mounts);
  }

  build() {
    this.summary = html("div", { class: "summary" });
    this.find = html("input", { class: "find wide", type: "search", placeholder: "Find a task", "aria-label": "Find a task by reference name" });
    this.zoomWord = html("span", { class: "zoom wide" }, "100 %");
    const button = (name, content, act, kind = "wide") => {
      const made = html("button", { type: "button", title: name, "aria-label": name, class: kind }, content);
      made.addEventListener("click", act);
      return made;
    };
    this.nextButton = button("Next failed", "Next failed", () => this.goToNext(), "");
    this.tableButton = button("Show as a table", "Table", () => { this.asTable = !this.asTable; this.show(); });
    this.tools = html("div", { class: "tools", role: "toolbar", "aria-label": "Graph" }, this.summary,
      html("span", { class: "end" }, this.nextButton, this.find, button("Zoom out", icon(UI.minus), () => this.zoom(0.8)), this.zoomWord,
        button("Zoom in", icon(UI.plus), () => this.zoom(1.25)), button("Fit", icon(UI.fit), () => this.fit()), this.tableButton));
    this.layers = ["frames", "edges", "plain", "labels", "pluses"].map(name => svg("g", { class: name }));
    this.ring = svg("rect", { class: "ring", rx: 9 });
    this.world = svg("g", {}, this.layers, this.ring);
    this.draw = svg("svg", { class: "draw", tabindex: "0", role: "application", "aria-roledescription": "workflow graph" }, this.world);
    this.stage = html("div", { class: "stage" }, this.draw);
    this.twin = html("div", { class: "twin" });
    this.said = html("div", { class: "said", role: "status", "aria-live": "polite" });
    this.root = html("section", { class: "canvas" }, this.tools, this.stage, this.twin, this.said);
    this.parent.append(this.root);
    this.find.addEventListener("keydown", event => { if (event.key === "Enter") this.findNext(this.find.value); });
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.root);
  }

  // --- what Python says -----------------------------------------------------------------------

  update(component) {
    const data = component.data;
    this.component = component;
    if (this.view !== data.view) this.openView(data.view);
    this.data = data;
    this.editing = data.mode === "edit";
    this.acknowledge(data.ack || {});
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
    this.stage.style.height = this.twin.style.maxHeight = `${data.height}px`;
    this.draw.setAttribute("aria-label", data.label);
    const graphChanged = this.rev !== data.rev, stateChanged = this.stateText !== data.state;
    if (stateChanged) { this.state = JSON.parse(data.state); this.stateText = data.state; }
    if (graphChanged) this.takeGraph(JSON.parse(data.graph), data.rev);
    this.takeSelection(data);
    if (graphChanged || stateChanged) this.drawSummary();
    this.fitIfAsked(data.fit);
    this.show(graphChanged || stateChanged);
    Object.assign(this.root.dataset, { rev: data.rev, nodes: this.nodes.size, mode: data.mode, waiting: this.memory.outbox.length });
  }

  openView(view) {
    this.view = view;
    this.memory = memories.get(view);
    if (!this.memory) memories.set(view, (this.memory = { cid: Math.random().toString(36).slice(2, 12), seq: 0, outbox: [], picks: 0, viewport: null, fit: undefined, selected: null, asTable: false }));
    this.rev = this.stateText = undefined;
    this.cursor = null;
  }

  // The selection and the choice of the table outlive a remount, too.
  get selected() { return this.memory.selected; }
  set selected(id) { this.memory.selected = id; }
  get asTable() { return this.memory.asTable; }
  set asTable(on) { this.memory.asTable = on; }

  acknowledge(ack) {
    const done = ack[this.memory.cid] || 0;
    this.memory.outbox = this.memory.outbox.filter(op => op.seq > done);
  }

  takeGraph(graph, rev) {
    const anchor = this.graph && this.anchor();
    this.graph = graph;
    this.rev = rev;
    graph.nodes.forEach((node, index) => { node.index = index; });
    for (const edge of graph.edges) edge.box = boxOf(edge.points);
    this.nodes = new Map(graph.nodes.map(node => [node.id, node]));
    this.edges = new Map(graph.edges.map(edge => [edge.id, edge]));
    this.out = groupBy(graph.edges, "from");
    this.into = groupBy(graph.edges, "to");
    if (!this.nodes.has(this.cursor)) this.cursor = null;
    if (anchor && this.nodes.has(anchor.id)) { // what a person looks at stays where it is
      const node = this.nodes.get(anchor.id), port = this.memory.viewport;
      port.x += (anchor.x - node.x) * port.k;
      port.y += (anchor.y - node.y) * port.k;
    }
  }

  anchor() {
    if (!this.memory.viewport) return null;
    const chosen = this.nodes.get(this.selected) || this.nodes.get(this.cursor);
    if (chosen) return chosen;
    const port = this.memory.viewport, top = -port.y / port.k;
    return this.graph.nodes.find(node => node.y >= top && node.kind === "task") || null;
  }

  takeSelection(data) {
    const heard = data.seen >= this.memory.picks; // Python has seen every click of this canvas
    if (!heard) return;
    const chosen = data.selected === null ? this.selected : data.selected;
    if (chosen === this.selected) return;
    this.selected = this.nodes.has(chosen) ? chosen : null;
    this.cursor = this.selected;
    if (this.selected) this.bringIntoView(this.selected);
  }

  fitIfAsked(fit) {
    const asked = this.memory.fit !== undefined && fit !== this.memory.fit;
    this.memory.fit = fit;
    if (asked) this.fit();
  }

  // --- table or picture -----------------------------------------------------------------------

  resized() {
    const width = this.root.clientWidth;
    if (!width || !this.graph) return;
    const narrow = width < NARROW;
    this.root.classList.toggle("narrow", narrow);
    if (narrow !== this.narrow) { this.narrow = narrow; this.show(true); } else if (!this.twinShown) this.refresh();
  }

  show(changed = false) {
    this.twinShown = this.asTable || this.root.clientWidth < NARROW;
    this.root.classList.toggle("narrow", this.root.clientWidth < NARROW);
    this.stage.hidden = this.twinShown;
    this.twin.hidden = !this.twinShown;
    this.tableButton.firstChild.textContent = this.asTable ? "Graph" : "Table";
    this.tableButton.setAttribute("aria-label", this.asTable ? "Show as a graph" : "Show as a table");
    if (this.twinShown) { if (changed || !this.twin.firstChild || this.twinSelected !== this.selected) this.drawTwin(); } else {
      this.twin.replaceChildren();
      this.refresh();
    }
  }

  stateOf(node) {
    return this.state.nodes[node.id] || {};
  }

  noteOf(node) {
    const note = this.stateOf(node).note, bar = node.kind === "fork" || node.kind === "join";
    return note ?? (bar ? typeOf(node.type).word.toLowerCase() : typeOf(node.type).word);
  }

  statusWord(state) {
    if (state.change) return MARKS.changes[state.change].word;
    if (state.status) return this.state.kind === "coverage" ? "Tested" : markOf(state.status).word;
    return state.away ? state.away[0].toUpperCase() + state.away.slice(1) : "";
  }

  words(node) {
    const state = this.stateOf(node), problems = (this.state.problems[node.id] || []).map(([, text]) => text);
    const status = this.statusWord(state);
    return [titleOf(node), this.noteOf(node), status, state.badge, state.reason, ...problems].filter(Boolean).join(", ");
  }

  drawTwin() {
    const head = this.narrow ? null : html("thead", {}, html("tr", {}, ["Task", "Status", "What"].map(text => html("th", { scope: "col" }, text)), this.editing ? html("th", { scope: "col" }, "Add") : null));
    const shown = this.graph.outline.filter(([id]) => id || this.editing);
    const rows = shown.map(([id, text, depth, place]) => (id ? this.taskRow(id, text, depth, place) : this.branchRow(text, depth, place)));
    const body = rows.length ? rows : [html("tr", {}, html("td", { class: "empty" }, "There is no task yet."))];
    if (this.editing && !rows.length) body.push(html("tr", {}, html("td", { class: "act" }, this.addButton("Add the first task", this.graph.edges[0]?.place))));
    const scroll = this.twin.scrollTop;
    this.twin.replaceChildren(html("table", {}, html("caption", {}, `${this.data.label}, as a table`), head, html("tbody", {}, body)));
    this.twin.scrollTop = scroll;
    if (this.twinSelected !== this.selected) this.twin.querySelector("tr.on")?.scrollIntoView({ block: "nearest" });
    this.twinSelected = this.selected;
  }

  taskRow(id, text, depth, place) {
    const node = this.nodes.get(id), state = this.stateOf(node), on = id === this.selected;
    const change = state.change && MARKS.changes[state.change], problem = this.worstProblem(id);
    const shown = change ? html("span", { class: "status", style: colour(change.tone) }, glyph(change.shape))
      : problem ? statusMark(problem, "") : state.status ? statusMark(state.status, "") : html("span", { class: "dot" }, "•");
    const name = html("button", { type: "button", class: "name", "aria-pressed": String(on), "data-id": id, title: this.words(node) }, text);
    name.addEventListener("click", () => this.select(id));
    const word = this.statusWord(state);
    const detail = [state.badge, this.noteOf(node)].filter(Boolean).join(" · ");
    const cells = this.narrow ? [html("td", { class: "words" }, detail)] : [html("td", { class: "words" }, word), html("td", { class: "words" }, detail)];
    if (this.editing) cells.push(html("td", { class: "act" }, this.addButton(`Add a task after ${text}`, place)));
    const line = html("div", { class: "line", style: `padding-left:${depth * 16}px` }, shown, name);
    return html("tr", { class: [on && "on", state.away && "off", state.change === "removed" && "gone"].filter(Boolean).join(" ") }, html("th", { scope: "row" }, line), cells);
  }

  branchRow(text, depth, place) {
    const line = html("div", { class: "line branch", style: `padding-left:${depth * 16}px` }, text);
    const row = html("tr", {}, html("td", { colspan: this.narrow ? 2 : 3 }, line));
    if (this.editing) row.append(html("td", { class: "act" }, this.addButton(`Add a task at the start of ${text}`, place)));
    return row;
  }

  addButton(name, place) {
    const button = html("button", { type: "button", "aria-label": name, title: name, class: "add" }, icon(UI.plus));
    button.addEventListener("click", () => this.openMenu(button.getBoundingClientRect(), place, button));
    return button;
  }

  // --- the summary above ----------------------------------------------------------------------

  drawSummary() {
    const { kind, counts, unplaced } = this.state, parts = [];
    if (kind === "execution") {
      const known = Object.keys(counts).filter(status => status).sort((a, b) => STATUS_ORDER.indexOf(a) - STATUS_ORDER.indexOf(b));
      for (const status of known) parts.push(html("span", { class: "count", title: markOf(status).word }, statusMark(status, grouped(counts[status])), html("span", { class: "said" }, markOf(status).word)));
      if (counts[""]) parts.push(html("span", { class: "quiet" }, `${grouped(counts[""])} not reached`));
      if (unplaced.length) parts.push(html("span", { class: "quiet", title: unplaced.join(", ") }, `${unplaced.length} not in this definition`));
    } else if (kind === "coverage") {
      for (const [line, tone, word] of [["tested", "completed", "Tested"], ["untested", "errors", "Never tested"]]) parts.push(html("span", { class: "status", style: colour(tone) }, `${word} ${counts[line] || 0}`));
    } else if (kind === "changes") {
      for (const [change, mark] of Object.entries(MARKS.changes)) parts.push(html("span", { class: "status", style: colour(mark.tone) }, glyph(mark.shape), `${counts[change] || 0} ${change}`));
    }
    const levels = Object.values(this.state.problems).flat().map(([level]) => level);
    for (const [level, status] of [["error", "FAILED"], ["warning", "COMPLETED_WITH_ERRORS"]]) {
      const count = levels.filter(each => each === level).length;
      if (count) parts.push(statusMark(status, `${count} ${level}${count === 1 ? "" : "s"}`));
    }
    if (!parts.length) { const tasks = this.graph.outline.filter(([id]) => id).length; parts.push(html("span", { class: "quiet" }, tasks === 1 ? "1 task" : `${grouped(tasks)} tasks`)); }
    this.summary.replaceChildren(...parts);
    const next = this.marked();
    this.nextButton.hidden = !next.length;
    this.nextButton.firstChild.textContent = { changes: "Next change", coverage: "Next untested", execution: "Next failed" }[kind] || "Next problem";
    this.nextButton.setAttribute("aria-label", this.nextButton.firstChild.textContent);
    this.nextButton.title = this.nextButton.firstChild.textContent;
  }

  worstProblem(id) {
    const levels = (this.state.problems[id] || []).map(([level]) => level);
    return levels.includes("error") ? "FAILED" : levels.length ? "COMPLETED_WITH_ERRORS" : null;
  }

  marked() {
    const wanted = { execution: node => markOf(this.stateOf(node).status).bad, changes: node => this.stateOf(node).change, coverage: node => this.stateOf(node).away }[this.state.kind] || (node => this.state.problems[node.id]);
    return this.graph.nodes.filter(node => isTask(node) && wanted(node));
  }

  goToNext() {
    const found = this.marked(), at = found.findIndex(node => node.id === this.selected);
    if (found.length) this.select(found[(at + 1) % found.length].id);
  }

  findNext(text) {
    const wanted = text.trim().toLowerCase();
    const found = wanted ? this.graph.nodes.filter(node => isTask(node) && `${node.ref} ${node.name} ${node.type}`.toLowerCase().includes(wanted)) : [];
    const at = found.findIndex(node => node.id === this.selected);
    if (found.length) this.select(found[(at + 1) % found.length].id);
    this.said.textContent = found.length ? `${found.length} found` : "Nothing found";
  }

  // --- drawing what is in view ----------------------------------------------------------------

  refresh() {
    if (!this.memory.viewport) this.firstView();
    const port = this.memory.viewport;
    if (!port) return;
    this.world.setAttribute("transform", `translate(${port.x},${port.y}) scale(${port.k})`);
    this.draw.classList.toggle("far", port.k < 0.35);
    this.zoomWord.textContent = `${Math.round(port.k * 100)} %`;
    const width = this.draw.clientWidth, height = this.draw.clientHeight, spare = 120;
    const view = [(-port.x - spare) / port.k, (-port.y - spare) / port.k, (width - port.x + spare) / port.k, (height - port.y + spare) / port.k];
    const keep = new Set();
    for (const node of this.graph.nodes) if (touches(view, node.x - 160, node.y - 20, node.x + node.w + 180, node.y + node.h + 8)) this.put(`n:${node.id}`, this.nodeKey(node), () => this.nodeElements(node), keep);
    const lines = this.graph.edges.filter(edge => touches(view, ...edge.box));
    const strength = edge => LINE_STRENGTH[this.state.edges[edge.id]] ?? 2;
    lines.sort((a, b) => strength(a) - strength(b));
    for (const edge of lines) this.put(`e:${edge.id}`, this.edgeKey(edge), () => this.edgeElements(edge), keep);
    for (const [id, old] of this.drawn) if (!keep.has(id)) { old.parts.forEach(([, part]) => part.remove()); this.drawn.delete(id); }
    this.markSelection();
  }

  put(id, key, build, keep) {
    keep.add(id);
    const old = this.drawn.get(id);
    if (old && old.key === key) return;
    const parts = build();
    for (const [layer, part] of parts) {
      const before = old && old.parts.find(([same]) => same === layer);
      if (before && before[1].parentNode) before[1].replaceWith(part); else this.layers[layer].append(part);
    }
    if (old) old.parts.forEach(([, part]) => part.remove());
    this.drawn.set(id, { key, parts });
  }

  nodeKey(node) {
    return JSON.stringify([node, this.state.nodes[node.id], this.state.problems[node.id], this.state.kind]);
  }

  edgeKey(edge) {
    return JSON.stringify([edge, this.state.edges[edge.id], this.state.notes[edge.id], this.editing]);
  }

  nodeElements(node) {
    if (node.kind === "merge") return [];
    const state = this.stateOf(node);
    if (node.kind === "start" || node.kind === "end") {
      const away = this.state.kind === "execution" && !state.status;
      return [[2, svg("circle", { class: `term ${away ? "away" : ""}`, cx: node.x + 6, cy: node.y + 6, r: 5.5 })]];
    }
    const change = state.change && MARKS.changes[state.change], mark = markOf(state.status || "");
    const kinds = ["node", `kind-${node.kind}`, mark.bad && "bad", state.away && "away", change && `change-${state.change}`];
    if (node.kind === "fork" || node.kind === "join") kinds.push(state.status && !["COMPLETED", "COMPLETED_WITH_ERRORS"].includes(state.status) && "open");
    if (node.kind === "fan" && !node.children.length) kinds.push("unsure");
    const name = this.words(node);
    const group = svg("g", { class: kinds.filter(Boolean).join(" "), style: colour(change ? change.tone : mark.tone), id: `node-${node.index}`,
      role: "button", "aria-label": name, "data-id": node.id, "data-status": state.status || null }, svg("title", {}, name));
    const drawer = { loop: "frameOf", fan: "fanOf", fork: "barOf", join: "barOf", switch: "diamondOf" }[node.kind] || "cardOf";
    group.append(...this[drawer](node, state, mark).filter(Boolean));
    const corner = this.cornerOf(node, change);
    return [[node.kind === "loop" || node.kind === "fan" ? 0 : 2, group], ...(corner ? [[3, corner]] : [])];
  }

  cardOf(node, state, mark) {
    const { x, y, w, h } = node, double = node.type === "SUB_WORKFLOW" || node.kind === "fold";
    const taken = state.badge ? state.badge.length * 6 + 10 : state.status ? 26 : 6;
    const room = Math.floor((w - 38 - taken) / 5.9);
    const top = state.badge ? [5, 0.86] : [h / 2 - 7, 1];
    return [
      svg("rect", { class: "body", x: x + 0.5, y: y + 0.5, width: w - 1, height: h - 1, rx: 6 }),
      double && svg("rect", { class: "inner", x: x + 3.5, y: y + 3.5, width: w - 7, height: h - 7, rx: 3.5 }),
      state.status && svg("path", { class: "side", d: `M${x + 6} ${y}a6 6 0 0 0-6 6v${h - 12}a6 6 0 0 0 6 6h-2.5v-${h}z` }),
      svg("path", { class: "type", transform: `translate(${x + 13},${y + h / 2 - 8})`, d: typeOf(node.type).path }),
      label(x + 38, y + 16, "ref", shortened(titleOf(node), state.status ? 18 : 20)),
      label(x + 38, y + 30, "meta", cut(this.noteOf(node), room)),
      state.badge && label(x + w - 9, y + 30, "badge", state.badge, "end"),
      state.status && this.state.kind === "execution" && svg("g", { transform: `translate(${x + w - 22},${y + top[0]}) scale(${top[1]})` }, strokes(mark.shape)),
    ];
  }

  barOf(node, state) {
    return [
      svg("rect", { class: "hit", x: node.x, y: node.y - 5, width: node.w, height: node.h + 10 }),
      svg("rect", { class: "bar", x: node.x, y: node.y, width: node.w, height: node.h, rx: 2 }),
      ...this.beside(node, this.noteOf(node)),
    ];
  }

  diamondOf(node) {
    const r = node.w / 2 + 1, axis = node.x + node.w / 2;
    return [svg("path", { class: "body diamond", d: `M${axis} ${node.y - 1}l${r} ${r}-${r} ${r}-${r}-${r}z` }), ...this.beside(node, "")];
  }

  beside(node, note) {
    const [x, y] = node.label, ref = shortened(titleOf(node), Math.max(4, Math.floor(node.room / 7.3)));
    const after = ref.length * 7.3 + 7, fits = note && after + note.length * 6.1 < node.room;
    return [label(x, y, "ref", ref, node.leftwards ? "end" : null), fits ? label(x + after, y, "meta", note) : null];
  }

  frameOf(node, state) {
    const ref = shortened(titleOf(node), 22), start = node.x + 29 + ref.length * 7.3 + 7, squares = state.squares || [];
    let room = node.x + node.w - 12 - start;
    const shown = Math.max(0, Math.min(squares.length, 12, Math.floor(room / 13)));
    const more = squares.length > shown ? `+${squares.length - shown}` : "";
    room -= shown * 13 + more.length * 7;
    const right = node.x + node.w - 9;
    return [
      svg("rect", { class: "frame", x: node.x, y: node.y, width: node.w, height: node.h, rx: 8 }),
      svg("path", { class: "type", transform: `translate(${node.x + 9},${node.y + 5}) scale(.9)`, d: typeOf("DO_WHILE").path }),
      label(node.x + 29, node.y + 17, "ref", ref),
      node.detail && room > 40 ? label(start, node.y + 17, "meta", cut(node.detail, Math.floor(room / 6.1))) : null,
      more && room > 0 ? label(right - 13 * shown - 4, node.y + 17, "meta", more, "end") : null,
      ...squares.slice(squares.length - shown).map((status, i) => this.square(right - 13 * (shown - i), node.y + 8, status)),
    ];
  }

  square(x, y, status) {
    return svg("rect", { class: "square", style: colour(markOf(status).tone), x, y, width: 10, height: 10, rx: 2 }, svg("title", {}, markOf(status).word));
  }

  fanOf(node, state) {
    const box = svg("rect", { class: "frame", x: node.x, y: node.y, width: node.w, height: node.h, rx: 8 });
    const note = (state.squares || []).length ? state.note : node.detail;
    if (!node.children.length) return [box, label(node.x + node.w / 2, node.y + 23, "meta", note, "middle")];
    const title = label(node.x + 14, node.y + 17, "meta", node.detail);
    if (this.nodes.has(node.children[0])) return [box, title];
    const squares = state.squares || [], most = 240;
    const counted = Object.entries(state.counts || {}).map(([status, count]) => `${count} ${markOf(status).word.toLowerCase()}`).join(", ");
    const rest = squares.length > most ? `, first ${most} drawn` : "";
    return [box, title, label(node.x + 14, node.y + 35, "meta", cut(counted + rest, 50)),
      ...squares.slice(0, most).map((status, i) => this.square(node.x + 14 + (i % 24) * 13, node.y + 48 + Math.floor(i / 24) * 13, status))];
  }

  cornerOf(node, change) {
    const problem = this.worstProblem(node.id);
    if (!change && !problem) return null;
    const mark = change || markOf(problem), words = change ? change.word : this.state.problems[node.id].map(([, text]) => text).join(" ");
    return svg("g", { class: "corner", style: colour(mark.tone), transform: `translate(${node.x + node.w - 9},${node.y - 6})` }, svg("title", {}, words),
      svg("rect", { class: "paper", x: -1, y: -1, width: 16, height: 16, rx: 4 }), strokes(mark.shape));
  }

  edgeElements(edge) {
    const kind = this.state.edges[edge.id] || "taken", points = edge.points.map(point => [...point]), [x, y] = points.at(-1);
    if (edge.arrow) points.at(-1)[1] -= 4;
    const line = svg("g", { class: `edge ${kind}`, "data-edge": edge.id }, svg("path", { d: rounded(points, edge.back ? 6 : 8) }), edge.arrow ? svg("path", { class: "head", d: `M${x} ${y}l-4 -6h8z` }) : null);
    const parts = [[1, line]];
    if (edge.case) {
      const note = this.state.notes[edge.id], text = cut(note ? `${edge.case} ${note}` : edge.case, Math.max(3, Math.floor((edge.room - 8) / 6.1))), width = text.length * 6.1 + 10, [lx, ly] = edge.label;
      parts.push([3, svg("g", {}, svg("title", {}, edge.case), svg("rect", { class: "pill", x: lx - width / 2, y: ly - 8, width, height: 16, rx: 3 }), label(lx, ly + 4, `case ${kind}`, text, "middle"))]);
    }
    if (this.editing && edge.plus) parts.push([4, this.plusOf(edge)]);
    return parts;
  }

  plusOf(edge) {
    const [x, y] = edge.plus, from = this.nameOf(edge.from), to = this.nameOf(edge.to);
    return svg("g", { class: "plus", tabindex: "0", role: "button", transform: `translate(${x},${y})`, "data-edge": edge.id, "aria-haspopup": "menu",
      "aria-label": `Add a task between ${from} and ${to}${edge.case ? `, case ${edge.case}` : ""}` },
      svg("circle", { class: "reach", r: 11 }), svg("circle", { class: "disc", r: 6.5 }), svg("path", { class: "sign", d: "M-3 0h6M0 -3v6" }));
  }

  nameOf(id) {
    const node = this.nodes.get(id);
    return { start: "the start", end: "the end", merge: "the way on" }[node.kind] || titleOf(node);
  }

  markSelection() {
    for (const group of this.world.querySelectorAll(".node")) {
      const on = group.dataset.id === this.selected;
      group.classList.toggle("selected", on);
      group.setAttribute("aria-pressed", String(on));
    }
    const at = this.nodes.get(this.cursor);
    this.ring.toggleAttribute("hidden", !at);
    if (!at) { this.draw.removeAttribute("aria-activedescendant"); this.ring.setAttribute("width", 0); return; }
    for (const [name, value] of Object.entries({ x: at.x - 4, y: at.y - 4, width: at.w + 8, height: at.h + 8 })) this.ring.setAttribute(name, value);
    this.draw.setAttribute("aria-activedescendant", `node-${at.index}`);
  }

  // --- the viewport ---------------------------------------------------------------------------

  firstView() {
    const width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!width) return;
    const start = this.graph.nodes[0], all = Math.min(1, (width - 24) / this.graph.w, (height - 24) / this.graph.h);
    const k = all > 0.8 ? all : Math.max(0.6, Math.min(1, (width - 24) / this.graph.w));
    const whole = this.graph.w * k <= width;
    this.memory.viewport = { k, x: whole ? (width - this.graph.w * k) / 2 : width / 2 - (start.x + 6) * k, y: 12 };
    const first = this.selected || (this.state.kind === "execution" && this.marked()[0]?.id);
    if (first && this.nodes.has(first)) this.bringIntoView(first);
    else if (this.graph.h * k + 24 < height) this.memory.viewport.y = Math.min(24, (height - this.graph.h * k) / 2);
  }

  fit() {
    const width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!width || !this.graph) return;
    const k = Math.max(0.02, Math.min(1, (width - 24) / this.graph.w, (height - 24) / this.graph.h));
    this.memory.viewport = { k, x: (width - this.graph.w * k) / 2, y: Math.max(12, (height - this.graph.h * k) / 2) };
    this.refresh();
  }

  zoom(factor, atX = this.draw.clientWidth / 2, atY = this.draw.clientHeight / 2) {
    const port = this.memory.viewport, k = Math.min(2, Math.max(0.02, port.k * factor));
    this.memory.viewport = { k, x: atX - ((atX - port.x) * k) / port.k, y: atY - ((atY - port.y) * k) / port.k };
    this.later();
  }

  bringIntoView(id) {
    const port = this.memory.viewport, node = this.nodes.get(id), width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!port || !node || !width) return;
    const left = node.x * port.k + port.x, top = node.y * port.k + port.y, tall = Math.min(node.h, 60) * port.k;
    if (left < 8 || left + node.w * port.k > width - 8) port.x += width / 2 - (left + (node.w * port.k) / 2);
    if (top < 24 || top + tall > height - 24) port.y += height / 2 - (top + tall / 2);
  }

  later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; if (!this.twinShown) this.refresh(); });
  }

  // --- what a person does ---------------------------------------------------------------------

  select(id) {
    this.selected = id;
    this.cursor = id;
    this.component.setStateValue("selected", { id, n: ++this.memory.picks });
    if (id) { this.bringIntoView(id); this.said.textContent = `${this.words(this.nodes.get(id))}, selected`; }
    this.show(false);
  }

  send(op) {
    this.memory.outbox.push({ cid: this.memory.cid, seq: ++this.memory.seq, rev: this.rev, ...op });
    this.component.setStateValue("outbox", this.memory.outbox.slice());
    this.root.dataset.waiting = String(this.memory.outbox.length);
  }

  remove(id) {
    const node = this.nodes.get(id);
    if (this.editing && node && node.path.length) this.send({ op: "delete", id, ref: node.ref, path: node.path });
  }

  listenToPointer() {
    const fingers = new Map();
    let pinch = 0;
    this.draw.addEventListener("pointerdown", event => {
      if (event.button) return;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const plus = event.target.closest(".plus"), node = event.target.closest(".node");
      if (fingers.size === 2) pinch = spread(fingers); else if (!plus) this.follow(event, node);
    });
    addEventListener("pointermove", this.onMove = event => {
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size !== 2) return;
      const now = spread(fingers), box = this.draw.getBoundingClientRect(), points = [...fingers.values()];
      this.zoom(now / (pinch || now), (points[0][0] + points[1][0]) / 2 - box.left, (points[0][1] + points[1][1]) / 2 - box.top);
      pinch = now;
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, this[`on${end}`] = event => fingers.delete(event.pointerId));
    this.draw.addEventListener("click", event => {
      const plus = event.target.closest(".plus");
      if (plus) this.openPlus(this.edges.get(plus.dataset.edge), plus);
    });
    this.draw.addEventListener("dblclick", event => {
      const node = this.nodes.get(event.target.closest(".node")?.dataset.id);
      if (node) this.send({ op: "open", id: node.id, ref: node.ref, path: node.path });
    });
    this.draw.addEventListener("wheel", event => {
      const inside = this.parent.activeElement === this.draw || this.root.getRootNode().activeElement === this.draw;
      if (!event.ctrlKey && !event.metaKey && !inside) return; // the page must stay scrollable past the graph
      event.preventDefault();
      const box = this.draw.getBoundingClientRect(), port = this.memory.viewport;
      if (event.ctrlKey || event.metaKey) return this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
      port.x -= event.shiftKey ? event.deltaY : event.deltaX;
      port.y -= event.shiftKey ? 0 : event.deltaY;
      this.later();
    }, { passive: false });
  }

  // From press to release: a click selects, a drag of the paper pans, a drag of a task moves it.
  follow(event, group) {
    const from = [event.clientX, event.clientY], port = this.memory.viewport, origin = [port.x, port.y];
    const node = group && this.nodes.get(group.dataset.id), movable = this.editing && node && node.path.length && node.kind !== "join";
    let dragging = false;
    const move = next => {
      const dx = next.clientX - from[0], dy = next.clientY - from[1];
      if (!dragging && Math.hypot(dx, dy) < 6) return;
      if (!dragging && movable) this.startDrag(node);
      dragging = true;
      this.draw.classList.add("dragging");
      if (movable) return this.drag(next);
      Object.assign(this.memory.viewport, { x: origin[0] + dx, y: origin[1] + dy });
      this.later();
    };
    const up = last => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      this.draw.classList.remove("dragging");
      if (dragging && movable) return this.drop(node);
      if (!dragging && last.type === "pointerup") { this.draw.focus({ preventScroll: true }); this.select(node ? node.id : null); }
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }

  startDrag(node) {
    this.ghost = html("div", { class: "ghost" }, titleOf(node));
    this.root.append(this.ghost);
  }

  drag(event) {
    const box = this.root.getBoundingClientRect();
    this.ghost.style.transform = `translate(${event.clientX - box.left + 8}px,${event.clientY - box.top + 8}px)`;
    const far = plus => { const at = plus.getBoundingClientRect(); return Math.hypot(at.x + at.width / 2 - event.clientX, at.y + at.height / 2 - event.clientY); };
    let best = null, least = 40;
    for (const plus of this.layers[4].children) { const away = far(plus); plus.classList.remove("hot"); if (away < least) [best, least] = [plus, away]; }
    best?.classList.add("hot");
    this.target = best && this.edges.get(best.dataset.edge);
  }

  drop(node) {
    this.ghost?.remove();
    for (const plus of this.layers[4].children) plus.classList.remove("hot");
    const target = this.target, inside = target && node.path.every((step, i) => target.place.list[i] === step);
    this.target = this.ghost = null;
    if (target && !inside) this.send({ op: "move", id: node.id, ref: node.ref, path: node.path, place: target.place });
  }

  openPlus(edge, plus) {
    const port = this.memory.viewport, box = this.draw.getBoundingClientRect(), x = box.left + edge.plus[0] * port.k + port.x, y = box.top + edge.plus[1] * port.k + port.y;
    this.openMenu({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }, edge.place, plus || this.draw);
  }

  openMenu(at, place, back) {
    this.closeMenu();
    if (!place) return;
    const box = this.root.getBoundingClientRect(), menu = html("div", { class: "menu", role: "menu", "aria-label": "Task to add" });
    let group = "";
    for (const item of this.data.palette) {
      if (item.group !== group) menu.append(html("h4", {}, (group = item.group)));
      const button = html("button", { type: "button", role: "menuitem", "data-type": item.type }, icon(typeOf(item.type).path), item.label);
      button.addEventListener("click", () => { this.closeMenu(); back.focus?.({ preventScroll: true }); this.send({ op: "insert", type: item.type, place }); });
      menu.append(button);
    }
    this.root.append(menu);
    menu.style.left = `${Math.max(4, Math.min(at.right - box.left + 6, box.width - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(at.top - box.top - 8, box.height - menu.offsetHeight - 4))}px`;
    this.menu = menu;
    menu.addEventListener("keydown", event => this.menuKey(event, back));
    this.outside = event => { if (!event.composedPath().includes(menu)) this.closeMenu(); };
    addEventListener("pointerdown", this.outside);
    menu.querySelector("button")?.focus({ preventScroll: true });
  }

  menuKey(event, back) {
    const items = [...this.menu.querySelectorAll("button")], at = items.indexOf(this.root.getRootNode().activeElement);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Escape") { event.stopPropagation(); this.closeMenu(); back.focus?.({ preventScroll: true }); } else if (event.key in steps) {
      event.preventDefault();
      items.at(steps[event.key] % items.length).focus();
    } else if (event.key.length === 1) items.find(item => item.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
  }

  closeMenu() {
    this.menu?.remove();
    this.menu = null;
    removeEventListener("pointerdown", this.outside);
  }

  listenToKeys() {
    this.draw.addEventListener("keydown", event => {
      const plus = event.target.closest?.(".plus");
      if (plus && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); this.openPlus(this.edges.get(plus.dataset.edge), plus); return; }
      if (this.key(event)) event.preventDefault();
    });
    this.draw.addEventListener("focus", () => { if (!this.cursor && this.graph) this.moveTo(this.graph.nodes.find(isTask)); });
  }

  key(event) {
    const command = event.ctrlKey || event.metaKey, letter = event.key.toLowerCase();
    if (command && this.editing && (letter === "z" || letter === "y")) { this.send({ op: letter === "y" || event.shiftKey ? "redo" : "undo" }); return true; }
    if (command || event.altKey) return false;
    const acts = {
      ArrowDown: () => this.moveTo(this.step(this.cursor, "out", "to")), ArrowUp: () => this.moveTo(this.step(this.cursor, "into", "from")),
      ArrowLeft: () => this.moveTo(this.neighbour(-1)), ArrowRight: () => this.moveTo(this.neighbour(1)),
      Home: () => this.moveTo(this.graph.nodes.find(isTask)), End: () => this.moveTo(this.graph.nodes.findLast(isTask)),
      Enter: () => this.cursor && this.select(this.cursor), " ": () => this.cursor && this.select(this.cursor), Escape: () => this.select(null),
      Delete: () => this.remove(this.cursor), Backspace: () => this.remove(this.cursor), f: () => this.fit(),
      "+": () => (this.editing ? this.plusAtCursor() : this.zoom(1.25)), "-": () => this.zoom(0.8), 0: () => this.fit(),
    };
    const act = acts[event.key];
    act?.();
    return Boolean(act);
  }

  moveTo(node) {
    if (!node) return;
    this.cursor = node.id;
    this.bringIntoView(node.id);
    this.refresh();
    this.said.textContent = this.words(node);
  }

  // The next task along the lines; out of a loop when its last task has only the way back.
  step(id, side, end, seen = new Set()) {
    const lines = (this[side]?.get(id) || []).filter(edge => !edge.back && edge.from !== edge.to && !(side === "into" && edge.inner && seen.size));
    if (seen.has(id)) return null;
    seen.add(id);
    for (const edge of lines) {
      if (side === "out" && edge.inner && seen.size > 1) continue;
      const found = this.nodes.get(edge[end]);
      if (isTask(found)) return found;
      const beyond = this.step(found.id, side, end, seen);
      if (beyond) return beyond;
    }
    const parent = this.nodes.get(this.nodes.get(id)?.parent);
    return parent && parent.kind === "loop" && side === "out" ? this.step(parent.id, side, end, seen) : null;
  }

  neighbour(direction) {
    const from = this.nodes.get(this.cursor);
    if (!from) return null;
    const middle = from.x + from.w / 2, beside = this.graph.nodes.filter(node => isTask(node) && node.id !== from.id && node.kind !== "loop" && Math.abs(node.y + node.h / 2 - from.y - from.h / 2) < 60 && (node.x + node.w / 2 - middle) * direction > 20);
    const distance = node => Math.abs(node.x + node.w / 2 - middle) + Math.abs(node.y - from.y) * 2;
    return beside.sort((a, b) => distance(a) - distance(b))[0];
  }

  plusAtCursor() {
    let lines = (this.out.get(this.cursor) || []).filter(edge => edge.plus);
    if (!this.cursor || !lines.length) lines = this.cursor ? lines : this.graph.edges.filter(edge => edge.plus).slice(0, 1);
    const edge = lines.find(line => !line.back) || lines[0];
    if (edge) this.openPlus(edge);
  }

  destroy() {
    this.observer.disconnect();
    removeEventListener("pointermove", this.onMove);
    removeEventListener("pointerup", this.onpointerup);
    removeEventListener("pointercancel", this.onpointercancel);
    this.closeMenu();
    this.root.remove();
  }
}

const titleOf = node => node.ref || node.name || "unnamed";
const grouped = count => count.toLocaleString("en");
const isTask = node => node && !["start", "end", "merge", "fan"].includes(node.kind);
const spread = fingers => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
const touches = (view, left, top, right, bottom) => left < view[2] && right > view[0] && top < view[3] && bottom > view[1];

function boxOf(points) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  return [Math.min(...xs) - 8, Math.min(...ys), Math.max(...xs) + 8, Math.max(...ys)];
}

function groupBy(edges, end) {
  const groups = new Map();
  for (const edge of edges) { if (!groups.has(edge[end])) groups.set(edge[end], []); groups.get(edge[end]).push(edge); }
  return groups;
}

function isDark(element) {
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = "#ffffff";
  probe.fillStyle = paper || "#ffffff";
  const [r, g, b] = [1, 3, 5].map(at => parseInt(probe.fillStyle.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

export default function (component) {
  const parent = component.parentElement;
  let canvas = instances.get(parent);
  if (!canvas) { canvas = new Canvas(parent); instances.set(parent, canvas); }
  canvas.update(component);
  return () => { canvas.destroy(); instances.delete(parent); };
}
