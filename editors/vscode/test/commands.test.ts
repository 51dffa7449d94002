import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../src/commands";

test("the commands of code lenses are command lines of harn", () => {
  assert.deepEqual(COMMANDS["harn.run"]?.("/a b/main.harn", ""), ["run", "/a b/main.harn"]);
  assert.deepEqual(COMMANDS["harn.preview"]?.("/main.harn", ""), ["preview", "/main.harn"]);
  assert.deepEqual(COMMANDS["harn.test"]?.("/main_test.harn", "it's"), ["test", "/main_test.harn", "--filter", "it's"]);
});
