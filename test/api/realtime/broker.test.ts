// The brokers there are, each against the contract.
import { InProcessBroker } from '../../../api/realtime/broker.ts';
import { type BrokerCase, brokerContract } from './broker.contract.ts';

const brokers: readonly BrokerCase[] = [
  { name: 'in-process', make: (onFailure) => new InProcessBroker(onFailure) },
];

for (const broker of brokers) brokerContract(broker);
