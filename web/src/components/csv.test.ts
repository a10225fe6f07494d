import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCSV } from "./csv.ts";

test("cells with commas, quotes and lines are quoted", () => {
  assert.equal(formatCSV([["a,b", 'say "x"', "1\n2"]]), '\ufeff"a,b","say ""x""","1\n2"\r\n');
});

test("a cell that would start a formula becomes text, and a negative amount stays", () => {
  assert.equal(formatCSV([["=1+1", "-cmd", "-12.50", "@x"]]), "\ufeff'=1+1,'-cmd,-12.50,'@x\r\n");
});
