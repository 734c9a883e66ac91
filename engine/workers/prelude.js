// The world of one script: a clock that stands still, chance that repeats, a console that is read
// afterwards, and a way out for the result. Evaluated in a fresh context before each script; its value
// is the one door to it. The script itself sees nothing of this but `$`, `console`, Date and Math.random.
(function (seed, now, outputLimit, depthLimit, logLimit) {
  "use strict";
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isInteger, isSafeInteger } = Number;
  const { keys, setPrototypeOf, create, is } = Object;
  const globalEval = eval;
  const BuiltinError = Error, BuiltinRangeError = RangeError, BuiltinMap = Map, BuiltinSet = Set, BuiltinBigInt = BigInt;
  const BuiltinNumber = Number, BuiltinString = String, BuiltinBoolean = Boolean;
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const TWO_63 = 2 ** 63;

  // -- the surroundings ---------------------------------------------------------------

  const BuiltinDate = Date;
  const StillDate = function Date(...parts) {
    if (!new.target) return new BuiltinDate(now).toString();
    return Reflect.construct(BuiltinDate, parts.length ? parts : [now], new.target);
  };
  StillDate.prototype = BuiltinDate.prototype;
  const hidden = (value) => ({ value, writable: true, configurable: true, enumerable: false });
  Object.defineProperties(StillDate, {
    now: hidden(() => now), parse: hidden(BuiltinDate.parse), UTC: hidden(BuiltinDate.UTC),
  });
  BuiltinDate.prototype.constructor = StillDate;
  Object.defineProperty(globalThis, "Date", hidden(StillDate));
  delete globalThis.performance;

  let state = seed >>> 0;
  Math.random = function random() {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const logs = [];
  let logged = 0;
  const log = (text) => {
    if (logged > logLimit) return;
    logged += text.length + 1;
    logs.push(logged > logLimit ? "(further lines of this script were dropped)" : text);
  };
  const printed = (value) => {
    if (typeof value === "string") return value;
    try { return stringify(value) ?? String(value); } catch { return String(value); }
  };
  const write = (...values) => log(values.map(printed).join(" "));
  const console = { log: write, info: write, warn: write, error: write, debug: write };
  Object.defineProperty(globalThis, "console", hidden(console));

  // -- Java's method names, for scripts that call them -----------------------------------

  const JAVA_CALL = /\.\s*(get|size|containsKey|isEmpty|keySet|contains)\s*\(/;
  const own = (map, key) => Object.hasOwn(map, key);
  const mapMethods = create(Object.prototype, {
    get: hidden(function get(key) { return own(this, key) ? this[key] : null; }),
    size: hidden(function size() { return keys(this).length; }),
    containsKey: hidden(function containsKey(key) { return own(this, key); }),
    isEmpty: hidden(function isEmpty() { return keys(this).length === 0; }),
    keySet: hidden(function keySet() { return keys(this); }),
  });
  const listMethods = create(Array.prototype, {
    get: hidden(function get(index) { return this[index]; }),
    size: hidden(function size() { return this.length; }),
    contains: hidden(function contains(value) { return this.includes(value); }),
    isEmpty: hidden(function isEmpty() { return this.length === 0; }),
  });
  const withJavaMethods = (value) => {
    if (value === null || typeof value !== "object") return value;
    for (const key of keys(value)) withJavaMethods(value[key]);
    return setPrototypeOf(value, isArray(value) ? listMethods : mapMethods);
  };

  // -- the way out -------------------------------------------------------------------------

  class Unfit { constructor(reason) { this.reason = reason; } }
  const tooDeep = `the result is nested deeper than ${depthLimit} levels`;
  let parts, piece, written, ancestors, topIsNot;

  const put = (text) => {
    written += text.length;
    if (written > outputLimit) {
      throw new Unfit(`the result is larger than ${outputLimit} characters of JSON`);
    }
    // Joined now and then: one entry a token would cost many times the text itself.
    piece += text;
    if (piece.length > 8192) {
      parts.push(piece);
      piece = "";
    }
  };
  const putNumber = (value, depth) => {
    if (isSafeInteger(value) && !is(value, -0)) {
      put(BuiltinString(value));
    } else if (isInteger(value) && value >= -TWO_63 && value < TWO_63 && value !== 0) {
      put(BuiltinBigInt(value).toString());
    } else if (value !== value || value === Infinity || value === -Infinity) {
      log(`the result holds ${value}, which JSON cannot; null was stored in its place`);
      if (depth === 0) topIsNot = BuiltinString(value);
      put("null");
    } else if (is(value, -0)) {
      put("-0.0");
    } else {
      const text = BuiltinString(value);
      put(/[.e]/.test(text) ? text : text + ".0");
    }
  };
  const putBigInt = (value) => {
    const bound = BuiltinBigInt(TWO_63);
    if (value >= -bound && value < bound) put(value.toString());
    else if (value === bound) put("9223372036854775808.0");
    else put("{}");
  };
  const putList = (list, depth) => {
    put("[");
    for (let i = 0; i < list.length; i++) {
      if (i) put(",");
      putValue(list[i], depth + 1);
    }
    put("]");
  };
  const putMember = (key, value, first, depth) => {
    put((first ? "" : ",") + stringify(key.toWellFormed()) + ":");
    putValue(value, depth + 1);
  };
  const putMap = (map, depth) => {
    let first = true;
    put("{");
    for (const [key, value] of map) {
      if (key === null || key === undefined) throw new Unfit("a Map of the result has a null key");
      putMember(BuiltinString(key), value, first, depth);
      first = false;
    }
    put("}");
  };
  const putObject = (object, depth) => {
    let first = true;
    put("{");
    for (const key of keys(object)) {
      putMember(key, object[key], first, depth);
      first = false;
    }
    put("}");
  };
  const putContainer = (value, depth) => {
    if (depth > depthLimit) throw new Unfit(tooDeep);
    if (ancestors.has(value)) throw new Unfit("the result contains itself, which JSON cannot");
    ancestors.add(value);
    if (isArray(value) || value instanceof TypedArray) putList(value, depth);
    else if (value instanceof BuiltinMap) putMap(value, depth);
    else putObject(value, depth);
    ancestors.delete(value);
  };
  const putValue = (value, depth) => {
    switch (typeof value) {
      case "string": return put(stringify(value.toWellFormed()));
      case "number": return putNumber(value, depth);
      case "boolean": return put(value ? "true" : "false");
      case "undefined": return put("null");
      case "bigint": return putBigInt(value);
      case "object": return value === null ? put("null") : putObjectOrBoxed(value, depth);
      default: return put("{}");
    }
  };
  const putObjectOrBoxed = (value, depth) => {
    const boxed = value instanceof BuiltinNumber || value instanceof BuiltinString || value instanceof BuiltinBoolean;
    if (boxed) putValue(value.valueOf(), depth);
    else putContainer(value, depth);
  };

  const described = (thrown) => {
    if (!(thrown instanceof BuiltinError)) {
      let text;
      try { text = BuiltinString(thrown); } catch { text = "a value without a text"; }
      return { detail: text, line: null, nothing: thrown === null };
    }
    const at = /<input>:(\d+)/.exec(thrown.stack ?? "");
    const raised = /^(Type|Reference|Syntax|Range|Internal|URI|Eval)Error$/.test(thrown.name);
    return { detail: `${thrown.name}: ${thrown.message}`, line: raised && at ? BuiltinNumber(at[1]) : null };
  };

  const run = (source, inputs) => {
    let $ = parse(inputs);
    if (JAVA_CALL.test(source)) $ = withJavaMethods($);
    Object.defineProperty(globalThis, "$", { value: $, writable: true, configurable: true });
    parts = [], piece = "", written = 0, ancestors = new BuiltinSet(), topIsNot = null;
    let ended = false;
    try {
      const value = globalEval(source);
      ended = true;
      putValue(value, 0);
    } catch (thrown) {
      if (thrown instanceof Unfit) return stringify({ unfit: thrown.reason });
      if (ended && thrown instanceof BuiltinRangeError) return stringify({ unfit: tooDeep });
      return stringify(described(thrown));
    }
    return `{"not_finite":${stringify(topIsNot)},"value":${parts.join("") + piece}}`;
  };
  const check = (source) => {
    try {
      globalEval("throw null;" + source);
    } catch (thrown) {
      return stringify(thrown === null ? {} : described(thrown));
    }
  };

  return (act, source, inputs) => {
    if (act === "logs") return stringify(logs);
    return act === "check" ? check(source) : run(source, inputs);
  };
})
