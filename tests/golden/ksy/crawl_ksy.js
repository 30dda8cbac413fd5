// SPDX-License-Identifier: Apache-2.0
// With NODE_PATH = the node_modules of package.json:
//   node crawl_ksy.js compile KSY FOLDER       writes FOLDER/Crawl.js
//   node crawl_ksy.js dump FOLDER COPY FILE... prints a line of JSON for each file
// A line holds `document`, all that Crawl.js sees, as far as the superblock copy COPY ("winner",
// "slot0_copy1" ...) leads; or `error`, where the description does not take the file.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

async function compile(ksy, folder) {
  const compiler = require('kaitai-struct-compiler');
  const description = require('yaml').parse(fs.readFileSync(ksy, 'utf8'));
  const files = await compiler.compile('javascript', description, null, false);
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(folder, name), text);
  }
}

// Numbers of JavaScript are exact below 2^53; a larger one is a BigInt, in JSON "u64:<digits>".
// Arithmetic that mixes the two throws a TypeError: the description must not reckon with a number
// whose range it has not checked.
function exact64(isSigned) {
  return function read() {
    const low = this.readU4le();
    const high = isSigned ? this.readS4le() : this.readU4le();
    const exact = BigInt(high) * 0x100000000n + BigInt(low);
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  };
}

// What a class reads in sequence, and its instances, which are getters.
function fieldNames(object) {
  const all = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object));
  const getters = Object.keys(all).filter((name) => all[name].get);
  return [...Object.keys(object), ...getters].filter((name) => !name.startsWith('_'));
}

// Shown in another place; and followed from one superblock copy only, for the others may be torn.
const shownElsewhere = new Set(['Crawl.slot0', 'Crawl.slot1', 'PartitionBlock.footer']);
const followedOnce = 'Superblock.rootPlace';

function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function dump(value, copyName, isFollowed = false) {
  if (typeof value === 'bigint') return `u64:${value}`;
  if (value === null || typeof value !== 'object') return value ?? null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map((item) => dump(item, copyName, isFollowed));
  const type = value.constructor.name;
  const shown = {};
  for (const name of fieldNames(value)) {
    const place = `${type}.${name}`;
    if (shownElsewhere.has(place) || (place === followedOnce && !isFollowed)) continue;
    const key = snakeCase(name);
    shown[key] = dump(value[name], copyName, isFollowed || (type === 'Crawl' && key === copyName));
  }
  // Of FlatBuffers, what a field holds.
  if (['FbNumber', 'FbU4', 'FbString'].includes(type)) return shown.value;
  return type === 'FbTable' || type === 'FbRoot' ? undefined : shown;
}

function dumpFile(crawlType, stream, copyName) {
  try {
    return { document: dump(new crawlType(stream), copyName) };
  } catch (error) {
    return { error: error.stack };
  }
}

function dumpFiles(folder, copyName, ...files) {
  const KaitaiStream = require('kaitai-struct/KaitaiStream');
  KaitaiStream.prototype.readU8le = exact64(false);
  KaitaiStream.prototype.readS8le = exact64(true);
  const { Crawl } = require(path.resolve(folder, 'Crawl.js'));
  for (const file of files) {
    const stream = new KaitaiStream(new Uint8Array(fs.readFileSync(file)).buffer);
    fs.writeSync(1, `${JSON.stringify(dumpFile(Crawl, stream, copyName))}\n`);
  }
}

const [mode, ...names] = process.argv.slice(2);
Promise.resolve({ compile, dump: dumpFiles }[mode](...names)).catch((error) => {
  process.stderr.write(`${error.message ?? error}\n`);
  process.exitCode = 1;
});
