import { afterAll, beforeAll } from 'vitest';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { type Engine, startEngine } from '../../local/dynamodb-engine.ts';
import { storeContract } from './contract.ts';
import { emptyTables } from './tables-on-engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

storeContract('on DynamoDB', async () => createStore(await emptyTables(engine.endpoint)));
