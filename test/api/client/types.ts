// The types that an author generates, here of a small app.

/** An order, as the API sends it. */
export interface OrdersRecord {
  id: string;
  collection: 'orders';
  fields: {
    title: string | null;
    status: 'open' | 'paid' | null;
    total: number | null;
    customer: string | null;
    sku: string | null;
  };
  created_at: string;
  updated_at: string;
}

/** A customer, as the API sends it. */
export interface CustomersRecord {
  id: string;
  collection: 'customers';
  fields: { name: string | null };
  created_at: string;
  updated_at: string;
}

interface OrdersCreate {
  id?: string;
  title?: string | null;
  status?: 'open' | 'paid' | null;
  total?: number | null;
  customer?: string | null;
  sku?: string | null;
}

/** The types of the app. */
export interface Types {
  collections: {
    orders: {
      record: OrdersRecord;
      create: OrdersCreate;
      update: OrdersCreate & { 'total+'?: number };
      expand: { customer: { to: 'customers'; many: false } };
      kind: 'base';
    };
    customers: {
      record: CustomersRecord;
      create: { id?: string; name?: string | null };
      update: { name?: string | null };
      expand: { orders_via_customer: { to: 'orders'; many: true } };
      kind: 'base';
    };
  };
  routes: {
    'GET /totals/:status': {
      params: { status: string };
      query: { least?: number };
      body: undefined;
      response: { status: string; total: number };
    };
    'POST /echo': {
      params: Record<never, never>;
      query: Record<never, never>;
      body: { text: string };
      response: { text: string };
    };
  };
}
