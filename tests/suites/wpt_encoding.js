// Runs tests of web-platform-tests/encoding in Node, with a TextDecoder that asks the process that started us.
// Usage: node wpt_encoding.js FOLDER. Lines of JSON on standard output; answers are read from standard input.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];
let unread = "";

function tell(value) {
  fs.writeSync(1, JSON.stringify(value) + "\n");
}

function ask(question) {
  tell(question);
  const buffer = Buffer.alloc(1 << 20);
  while (!unread.includes("\n")) unread += buffer.toString("latin1", 0, fs.readSync(0, buffer));
  const line = unread.slice(0, unread.indexOf("\n"));
  unread = unread.slice(line.length + 1);
  return JSON.parse(line);
}

class NotOurs extends Error {}
class OtherMark extends Error {}

function decoded(label, bytes) {
  const text = ask({ decode: [label, Buffer.from(bytes).toString("base64")] });
  if (text === null) throw new OtherMark();
  return text;
}

class TextDecoder {
  constructor(label = "utf-8", options = {}) {
    if (options.fatal || options.ignoreBOM) throw new NotOurs();
    this.encoding = ask({ label: String(label) });
    if (!this.encoding || this.encoding === "replacement") throw new RangeError();
    this.label = label;
    this.fatal = this.ignoreBOM = false;
  }
  decode(input, options) {
    if (options || !input) throw new NotOurs();
    const bytes = ArrayBuffer.isView(input) ? input : new Uint8Array(input);
    return decoded(this.label, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
}

class XMLHttpRequest {
  // Only what decode() of the tests needs.
  open(method, url) {
    if (!url.startsWith("data:text/plain,")) throw new NotOurs();
    const text = url.slice("data:text/plain,".length);
    this.bytes = text.replace(/%([0-9A-F]{2})|./gi, (all, hex) => hex || all.charCodeAt(0).toString(16).padStart(2, "0"));
  }
  overrideMimeType(type) {
    this.label = /charset="?([^"]*)/.exec(type)[1];
  }
  send() {
    try {
      this.responseText = decoded(this.label, Buffer.from(this.bytes, "hex"));
      queueMicrotask(() => this.onload());
    } catch (problem) {
      queueMicrotask(() => this.onerror());
    }
  }
}

function kind(problem) {
  return { api: problem instanceof NotOurs, mark: problem instanceof OtherMark };
}

function same(ours, theirs, what) {
  if (!Object.is(ours, theirs)) throw new Error(`${what || ""} ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`);
}

function world(file, extra) {
  const waiting = [];
  const run = (work, name) => {
    const end = (problem) =>
      tell({ file, test: String(name), problem: problem && String(problem.message || problem), ...kind(problem) });
    try {
      const result = work({ step: (f) => f(), step_func: (f) => f, done() {}, step_func_done: (f) => f });
      if (result && result.then) waiting.push(result.then(() => end(null), end));
      else end(null);
    } catch (problem) {
      end(problem);
    }
  };
  const api = () => { throw new NotOurs(); };
  const globals = {
    subsetTest: (how, work, name) => how(work, name), location: { search: "?TextDecoder" },
    test: run, promise_test: run, async_test: run, setup() {}, assert_equals: same,
    assert_true: (value, what) => same(value, true, what), assert_not_equals(ours, theirs, what) {
      if (Object.is(ours, theirs)) throw new Error(`${what || ""} both ${JSON.stringify(ours)}`);
    },
    assert_false: (value, what) => same(value, false, what),
    assert_array_equals: (a, b, what) => same(JSON.stringify(Array.from(a)), JSON.stringify(Array.from(b)), what),
    assert_throws_js(kind, work) {
      try { work(); } catch (problem) {
        if (problem instanceof NotOurs || problem instanceof OtherMark) throw problem;
        return;
      }
      throw new Error("nothing was thrown");
    },
    assert_throws_dom: api, format_value: String, TextDecoder, XMLHttpRequest, createBuffer: api, idl_test: api, MessageChannel: api,
    GLOBAL: { isWindow: () => false, isWorker: () => false, isShadowRealm: () => true }, Buffer, queueMicrotask,
    ...extra,
  };
  globals.TextEncoder = class { constructor() { api(); } };
  globals.self = globals.window = globals;
  return { context: vm.createContext(globals), waiting };
}

function load(context, file) {
  vm.runInContext(fs.readFileSync(file, "utf8"), context, { filename: file });
}

function files(under, ending) {
  const found = [];
  for (const entry of fs.readdirSync(under, { withFileTypes: true })) {
    const file = path.join(under, entry.name);
    if (entry.isDirectory()) found.push(...files(file, ending));
    else if (ending.test(file)) found.push(file);
  }
  return found.sort();
}

async function scripts() {
  for (const file of files(folder, /\.any\.js$/)) {
    if (/streams|idlharness|sharedarray|encodeInto|textencoder|copy/.test(file)) continue;  // nothing is decoded there
    const { context, waiting } = world(path.relative(folder, file));
    try {
      for (const meta of fs.readFileSync(file, "utf8").matchAll(/^\/\/ META: script=(.*)$/gm))
        if (!meta[1].startsWith("/")) load(context, path.join(path.dirname(file), meta[1].trim()));
      load(context, file);
    } catch (problem) {
      tell({ file: path.relative(folder, file), test: "loads", problem: String(problem.message), ...kind(problem) });
    }
    await Promise.all(waiting);
  }
}

function pageScripts(file, context) {
  const page = fs.readFileSync(file, "latin1");
  for (const script of page.matchAll(/<script(?: src="?([^">]*)"?)?>([^]*?)<\/script>/g)) {
    if (script[1] && script[1].startsWith("/")) continue;
    if (script[1]) load(context, path.join(path.dirname(file), script[1]));
    else vm.runInContext(script[2], context, { filename: file });
  }
  return page;
}

function pages() {
  for (const file of files(folder, /-decode[^/]*\.html$/)) {
    const page = fs.readFileSync(file, "latin1");
    const onload = /onload="showNodes\((\w+)\)/.exec(page);
    const frame = /<iframe src="([^"]*)"/.exec(page);
    if (!onload || !frame) continue;
    const { context } = world(file, {});
    pageScripts(file, context);
    const shown = path.join(path.dirname(file), frame[1]);
    const bytes = [...fs.readFileSync(shown, "latin1").matchAll(/data-bytes="([^"]*)"/g)].map((match) => match[1]);
    context.asked = bytes;
    tell({ page: path.relative(folder, shown), expected: vm.runInContext(`asked.map((one) => ${onload[1]}(one))`, context) });
  }
  for (const file of files(folder, /-encode-href[^/]*\.html$/)) {
    const { context } = world(file, { subsetTest() {}, location: { search: "" } });
    const page = pageScripts(file, context);
    const cases = vm.runInContext("codepoints.map((one) => [one.cp, one.expected])", context);
    tell({ href: path.relative(folder, file), charset: /<meta charset="?([\w-]+)/.exec(page)[1], cases });
  }
}

scripts().then(pages);
