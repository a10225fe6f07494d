import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { addMessage, MessageTimers, type ShownMessage } from "./passing-messages.ts";

function show(...messages: ShownMessage[]): string[] {
  const shown = messages.reduce<ShownMessage[]>(addMessage, []);
  return shown.map((message) => message.id);
}

const done = (id: string) => ({ id, type: "success" });
const failed = (id: string) => ({ id, type: "error" });

test("three messages are shown, the newest first", () => {
  assert.deepEqual(show(done("1"), done("2"), done("3"), done("4")), ["4", "3", "2"]);
});

test("an error stays longer than what was done", () => {
  assert.deepEqual(show(failed("1"), done("2"), done("3"), done("4")), ["4", "3", "1"]);
});

test("the oldest error goes if there are only errors", () => {
  assert.deepEqual(show(failed("1"), failed("2"), failed("3"), done("4")), ["4", "3", "2"]);
});

test("a message replaces the one with its id", () => {
  assert.deepEqual(show(done("1"), done("2"), failed("1")), ["1", "2"]);
});

function startTimers(): { timers: MessageTimers; dismissed: string[] } {
  const dismissed: string[] = [];
  return { timers: new MessageTimers((id) => dismissed.push(id)), dismissed };
}

test("a message goes away after eight seconds, and a new one does not delay it", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { timers, dismissed } = startTimers();
  timers.show(["1"]);
  mock.timers.tick(5_000);
  timers.show(["2", "1"]);
  mock.timers.tick(2_999);
  assert.deepEqual(dismissed, []);
  mock.timers.tick(1);
  assert.deepEqual(dismissed, ["1"]);
  mock.timers.tick(5_000);
  assert.deepEqual(dismissed, ["1", "2"]);
  mock.timers.reset();
});

test("messages stay while somebody reads one", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { timers, dismissed } = startTimers();
  timers.show(["1"]);
  timers.hold();
  timers.show(["2", "1"]);
  mock.timers.tick(60_000);
  assert.deepEqual(dismissed, []);
  timers.release();
  mock.timers.tick(8_000);
  assert.deepEqual(dismissed, ["2", "1"]);
  mock.timers.reset();
});

test("a message that was closed has no clock", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { timers, dismissed } = startTimers();
  timers.show(["1"]);
  timers.show([]);
  mock.timers.tick(60_000);
  assert.deepEqual(dismissed, []);
  mock.timers.reset();
});
