// The brokers there are, each against the contract.
import { expect, it } from 'vitest';
import { InProcessBroker } from '../../../api/realtime/broker.ts';
import { heldBytes } from '../../harness/old-objects.ts';
import { type BrokerCase, brokerContract } from './broker.contract.ts';

const orders = { workspace: 'acme', app: 'shop', collection: 'orders', incarnation: '1' };

const brokers: readonly BrokerCase[] = [
  { name: 'in-process', make: (onFailure) => new InProcessBroker(onFailure) },
];

for (const broker of brokers) brokerContract(broker);

it('the in-process broker keeps nothing of topics that nobody listens to any more', () => {
  const broker = new InProcessBroker((error) => expect.unreachable(String(error)));
  const before = heldBytes();
  for (let number = 0; number < 50_000; number++) {
    broker.subscribe({ ...orders, collection: `c${number}` }, () => undefined)();
  }
  expect(heldBytes() - before).toBeLessThan(1_048_576);
  // It is there until here.
  broker.publish(orders, { type: 'record_created', record: {} });
});
