import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { BaseCheckpointSaver, type Checkpoint, type CheckpointTuple, copyCheckpoint } from '@langchain/langgraph';

type Config = Parameters<BaseCheckpointSaver['put']>[0];
type Metadata = Parameters<BaseCheckpointSaver['put']>[2];
type Writes = Parameters<BaseCheckpointSaver['putWrites']>[1];
type ListOptions = NonNullable<Parameters<BaseCheckpointSaver['list']>[1]>;
type Row = Record<string, SQLOutputValue>;

/** These replace what the task wrote there before; its ordinary writes are kept as they were first written. */
const replacing: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

const schema = `
  CREATE TABLE IF NOT EXISTS checkpoints (
    thread TEXT, ns TEXT, id TEXT, parent TEXT, type TEXT, checkpoint BLOB, metadata_type TEXT, metadata BLOB,
    PRIMARY KEY (thread, ns, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS writes (
    thread TEXT, ns TEXT, checkpoint TEXT, task TEXT, idx INTEGER, path TEXT, channel TEXT, type TEXT, value BLOB,
    PRIMARY KEY (thread, ns, checkpoint, task, idx)) WITHOUT ROWID`;

/** LangGraph checkpoints in one SQLite file: a run goes on in another process where this one ended. */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    super();
    this.#database = new DatabaseSync(file, { timeout: 5_000 });
    this.#database.exec(schema);
  }

  close(): void {
    this.#database.close();
  }

  async getTuple({ configurable }: Config): Promise<CheckpointTuple | undefined> {
    const { thread_id: thread, checkpoint_ns: ns = '', checkpoint_id: id } = configurable ?? {};
    if (thread === undefined) return undefined;
    const row = this.#database
      .prepare('SELECT * FROM checkpoints WHERE thread = ? AND ns = ? AND id = ifnull(?, id) ORDER BY id DESC LIMIT 1')
      .get(thread, ns, id || null);
    return row && this.#tuple(row);
  }

  async *list({ configurable }: Config, { limit, before, filter }: ListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread = null, checkpoint_ns: ns = null, checkpoint_id: id } = configurable ?? {};
    const rows = this.#database
      .prepare(
        `SELECT * FROM checkpoints WHERE thread = ifnull(?, thread) AND ns = ifnull(?, ns) AND id = ifnull(?, id)
         AND (? IS NULL OR id < ?) ORDER BY id DESC`,
      )
      .all(thread, ns, id || null, ...twice(before?.configurable?.checkpoint_id || null));
    let left = limit ?? Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (left <= 0) return;
      const tuple = await this.#tuple(row);
      const metadata = (tuple.metadata ?? {}) as Record<string, unknown>;
      if (!Object.entries(filter ?? {}).every(([key, value]) => metadata[key] === value)) continue;
      left -= 1;
      yield tuple;
    }
  }

  async put({ configurable }: Config, checkpoint: Checkpoint, metadata: Metadata): Promise<Config> {
    const { thread_id, checkpoint_ns = '', checkpoint_id: parent = null } = configurable ?? {};
    const [type, value] = await this.serde.dumpsTyped(copyCheckpoint(checkpoint));
    const [metadataType, metadataValue] = await this.serde.dumpsTyped(metadata);
    this.#database
      .prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(required(thread_id), checkpoint_ns, checkpoint.id, parent, type, value, metadataType, metadataValue);
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites({ configurable }: Config, writes: Writes, task: string, path = ''): Promise<void> {
    const { thread_id, checkpoint_ns: ns = '', checkpoint_id } = configurable ?? {};
    const key = [required(thread_id), ns, required(checkpoint_id), task];
    const dumped = await Promise.all(writes.map(([, value]) => this.serde.dumpsTyped(value)));
    this.#together(() => {
      for (const [at, [channel]] of writes.entries()) {
        const [type, value] = dumped[at] as [string, Uint8Array];
        const idx = replacing[channel] ?? at;
        this.#database
          .prepare(`INSERT OR ${idx < 0 ? 'REPLACE' : 'IGNORE'} INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
          .run(...key, idx, path, channel, type, value);
      }
    });
  }

  async deleteThread(thread: string): Promise<void> {
    this.#together(() => {
      for (const table of ['checkpoints', 'writes'])
        this.#database.prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread);
    });
  }

  async #tuple({ thread, ns, id, parent, type, checkpoint, metadata_type, metadata }: Row): Promise<CheckpointTuple> {
    const configOf = (checkpoint_id: unknown) => ({
      configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id },
    });
    const writes = this.#database
      .prepare('SELECT * FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ? ORDER BY path, task, idx')
      .all(thread as string, ns as string, id as string);
    const pendingWrites = writes.map(
      async (row) => [row.task, row.channel, await this.#load(row.type, row.value)] as [string, string, unknown],
    );
    return {
      config: configOf(id),
      checkpoint: await this.#load(type, checkpoint),
      metadata: await this.#load(metadata_type, metadata),
      pendingWrites: await Promise.all(pendingWrites),
      ...(parent !== null && { parentConfig: configOf(parent) }),
    };
  }

  #load(type: unknown, value: unknown) {
    return this.serde.loadsTyped(type as string, value as Uint8Array);
  }

  /** All or none. What runs in between must not wait for anything. */
  #together(change: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      change();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

const twice = (value: SQLInputValue): [SQLInputValue, SQLInputValue] => [value, value];

function required(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Error('a checkpoint needs configurable.thread_id, and its writes a checkpoint_id, in the configuration');
}
