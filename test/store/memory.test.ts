import { MemoryStore } from '../../adapters/memory/store.ts';
import { storeContract } from './contract.ts';

storeContract('in memory', async () => new MemoryStore());
