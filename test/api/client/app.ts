// An app of orders and customers, and clients of it.
import { type Client, createClient } from '../../../api/client/main.ts';
import { serverUrl } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import type { Types } from './types.ts';

/** The app, and a client that may do everything in it. */
export interface OrdersApp extends Scenario {
  client: Client<Types>;
}

/** Makes the app. */
export async function ordersApp(): Promise<OrdersApp> {
  const made = await scenario({
    collections: {
      customers: [{ name: 'name', kind: 'text' }],
      orders: [
        { name: 'title', kind: 'text', search: true },
        { name: 'status', kind: 'select', options: ['open', 'paid'] },
        { name: 'total', kind: 'number', min: 0 },
        { name: 'customer', kind: 'relation', target: 'customers' },
        { name: 'sku', kind: 'text', unique: true },
      ],
    },
    rules: { orders: { list: 'auth', get: 'auth' } },
    hooks: {
      'routes.ts': `routerAdd('GET', '/totals/:status', async (e) => {
        const filter = "status = '" + e.params.status + "' && total >= " + (e.query.least ?? 0);
        const { items } = await $app.records.aggregate('orders', { fn: 'sum(total)', filter });
        return { status: e.params.status, total: items[0]['sum(total)'] ?? 0 };
      });
      routerAdd('POST', '/echo', async (e) => await e.request.json());`,
    },
  });
  const client = createClient<Types>(serverUrl(), {
    workspace: made.workspace.id,
    app: made.app.id,
    token: made.admin.token,
  });
  return { ...made, client };
}
