// Takes messages away after a while, unless somebody is reading them; and which messages are shown.

export const SHOWN_MILLISECONDS = 8_000;
export const SHOWN_MAX = 3;

export interface ShownMessage {
  id: string;
  type?: string;
}

/** Whether the message goes away by itself: only what was done does. */
export function isPassing(message: ShownMessage): boolean {
  return message.type === "success";
}

/** The newest message comes first. If there are too many, those that go away by themselves go first. */
export function addMessage<T extends ShownMessage>(shown: readonly T[], added: T): T[] {
  const messages = [added, ...shown.filter((other) => other.id !== added.id)];
  while (messages.length > SHOWN_MAX) {
    const passing = messages.findLastIndex((message, index) => index > 0 && isPassing(message));
    messages.splice(passing === -1 ? messages.length - 1 : passing, 1);
  }
  return messages;
}

/** The clocks of the messages that go away by themselves. */
export class MessageTimers {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #dismiss: (id: string) => void;
  #ids: readonly string[] = [];
  #held = false;

  constructor(dismiss: (id: string) => void) {
    this.#dismiss = dismiss;
  }

  /** Starts the clocks of new messages; the others go on. */
  show(ids: readonly string[]): void {
    this.#ids = ids;
    for (const id of this.#timers.keys()) if (!ids.includes(id)) this.#stop(id);
    if (!this.#held) for (const id of ids) if (!this.#timers.has(id)) this.#start(id);
  }

  /** Keeps every message while somebody points at one or has the focus on it. */
  hold(): void {
    this.#held = true;
    for (const id of this.#timers.keys()) this.#stop(id);
  }

  release(): void {
    this.#held = false;
    this.show(this.#ids);
  }

  #start(id: string): void {
    this.#timers.set(
      id,
      setTimeout(() => this.#dismiss(id), SHOWN_MILLISECONDS),
    );
  }

  #stop(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}
