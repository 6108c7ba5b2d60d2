// What every broker must do, whatever carries its messages.
import { describe, expect, it } from 'vitest';
import type { Broker } from '../../../api/realtime/broker.ts';
import type { RecordChange } from '../../../api/realtime/event.ts';
import type { ExactTopic } from '../../../api/realtime/topic.ts';

/** A broker under test. */
export interface BrokerCase {
  name: string;
  /** Makes a broker that reports listeners' errors to `onFailure`. */
  make: (onFailure: (error: unknown) => void) => Broker;
}

const orders: ExactTopic = { workspace: 'acme', app: 'shop', collection: 'orders', incarnation: '1' };

function change(number: number): RecordChange {
  return { type: 'record_created', record: { id: String(number) } };
}

/** A listener and what it has heard; `heard` resolves once it has heard so many changes. */
function ear() {
  const ids: unknown[] = [];
  let check = () => {};
  return {
    ids,
    listener: ({ record }: RecordChange) => {
      ids.push(record.id);
      check();
    },
    heard: (count: number) =>
      new Promise<void>((resolve) => {
        check = () => ids.length >= count && resolve();
        check();
      }),
  };
}

/** Runs the suite over one broker. */
export function brokerContract({ name, make }: BrokerCase): void {
  describe(`the ${name} broker`, () => {
    const broken = (error: unknown) => {
      throw new Error('a listener failed', { cause: error });
    };

    it('brings every change of a topic to each listener, in order', async () => {
      const broker = make(broken);
      const [a, b] = [ear(), ear()];
      broker.subscribe(orders, a.listener);
      broker.subscribe(orders, b.listener);
      for (let number = 1; number <= 100; number++) broker.publish(orders, change(number));
      await Promise.all([a.heard(100), b.heard(100)]);
      expect(a.ids).toEqual(Array.from({ length: 100 }, (_, index) => String(index + 1)));
      expect(b.ids).toEqual(a.ids);
    });

    it.each([
      { ...orders, workspace: 'other' },
      { ...orders, app: 'other' },
      { ...orders, collection: 'other' },
      { ...orders, app: 'shop-orders' },
      { ...orders, incarnation: '2' },
    ])('keeps $workspace/$app/$collection/$incarnation apart', async (other) => {
      const broker = make(broken);
      const [here, elsewhere] = [ear(), ear()];
      broker.subscribe(orders, here.listener);
      broker.subscribe(other, elsewhere.listener);
      broker.publish(other, change(1));
      broker.publish(orders, change(2));
      broker.publish(other, change(3));
      await Promise.all([here.heard(1), elsewhere.heard(2)]);
      expect(here.ids).toEqual(['2']);
      expect(elsewhere.ids).toEqual(['1', '3']);
    });

    it('tells a listener nothing from before it subscribed and after it left', async () => {
      const broker = make(broken);
      const [always, while_] = [ear(), ear()];
      broker.subscribe(orders, always.listener);
      broker.publish(orders, change(1));
      await always.heard(1);
      const leave = broker.subscribe(orders, while_.listener);
      broker.publish(orders, change(2));
      await while_.heard(1);
      leave();
      leave();
      broker.publish(orders, change(3));
      await always.heard(3);
      expect(while_.ids).toEqual(['2']);
    });

    it('counts one listener that subscribes twice as two', async () => {
      const broker = make(broken);
      const one = ear();
      const leave = broker.subscribe(orders, one.listener);
      broker.subscribe(orders, one.listener);
      broker.publish(orders, change(1));
      await one.heard(2);
      leave();
      broker.publish(orders, change(2));
      await one.heard(3);
      expect(one.ids).toEqual(['1', '1', '2']);
    });

    it('lets a listener leave, and others come, while it is told', async () => {
      const broker = make(broken);
      const [first, late, staying] = [ear(), ear(), ear()];
      const leave = broker.subscribe(orders, (event) => {
        first.listener(event);
        leave();
        broker.subscribe(orders, late.listener);
      });
      broker.subscribe(orders, staying.listener);
      broker.publish(orders, change(1));
      await staying.heard(1);
      broker.publish(orders, change(2));
      await late.heard(1);
      expect(first.ids).toEqual(['1']);
      expect(late.ids).toEqual(['2']);
    });

    it('ends nothing that began after a subscription which is ended twice', async () => {
      const broker = make(broken);
      const later = ear();
      const leave = broker.subscribe(orders, broken);
      leave();
      broker.subscribe(orders, later.listener);
      leave();
      broker.publish(orders, change(1));
      await later.heard(1);
      expect(later.ids).toEqual(['1']);
    });

    it('tells nothing more to a listener that another one has sent away', async () => {
      const broker = make(broken);
      const [first, sentAway, last] = [ear(), ear(), ear()];
      let leave = () => {};
      broker.subscribe(orders, (event) => {
        first.listener(event);
        leave();
      });
      leave = broker.subscribe(orders, sentAway.listener);
      broker.subscribe(orders, last.listener);
      broker.publish(orders, change(1));
      await last.heard(1);
      expect(sentAway.ids).toEqual([]);
    });

    it('spares the publisher and other listeners a listener that throws', async () => {
      const failures: unknown[] = [];
      const broker = make((error) => failures.push(error));
      const healthy = ear();
      broker.subscribe(orders, () => {
        throw new Error('no');
      });
      broker.subscribe(orders, healthy.listener);
      broker.publish(orders, change(1));
      await healthy.heard(1);
      expect(failures).toHaveLength(1);
    });
  });
}
