// SPDX-License-Identifier: MIT
// Workflows of ten steps, by DBOS Transact: how many a second, one at a time and a hundred at once.
// Prints a line for each: how many at once, and the figure.  run.sh calls it.
import { DBOS } from '@dbos-inc/dbos-sdk';

async function steps(n) {
  let count = 0;
  for (let i = 0; i < n; ++i) count = await DBOS.runStep(async () => count + 1, { name: 'one more' });
  return count;
}
const workflow = DBOS.registerWorkflow(steps, { name: 'steps' });
DBOS.setConfig({
  name: 'bench', systemDatabaseUrl: process.env.DATABASE, logLevel: 'error', runAdminServer: false,
});
await DBOS.launch();
for (const atOnce of [1, 100]) {
  const rounds = atOnce === 1 ? 100 : 5;
  let seconds = 0;
  for (let warm = 0; warm < 2; ++warm) {
    const begin = performance.now();
    for (let r = 0; r < rounds; ++r) {
      const all = [];
      for (let i = 0; i < atOnce; ++i) all.push(await DBOS.startWorkflow(workflow)(10));
      for (const one of all) if (await one.getResult() !== 10) throw new Error('wrong');
    }
    seconds = (performance.now() - begin) / 1000;
  }
  console.log(`${atOnce} ${(rounds * atOnce / seconds).toFixed(1)}`);
}
await DBOS.shutdown();
