import type { Json, JsonObject } from './countersign.ts';

export interface Ticket {
  ticketId: string;
  customerId: string;
  orderId: string;
  text: string;
}

export interface Step {
  actionName: string;
  actionArgs: JsonObject;
  /** The agent's own words for those who decide. */
  contextSummary: string;
}

/** What each finished step gave the agent, by the tool's name. */
export type Outputs = Readonly<Record<string, Json>>;

export const ticket: Ticket = {
  ticketId: 'T-1042',
  customerId: 'C-77',
  orderId: 'O-5513',
  text: 'I was charged twice for order O-5513!',
};

interface CustomerRecord extends JsonObject {
  name: string;
  email: string;
  card: JsonObject;
  orders: { orderId: string; amount: number; currency: string }[];
}

/**
 * The plan, scripted where a model would think: the step at `index`, from the ticket and what the steps before it gave.
 * `undefined`: nothing is left to do, or nothing that can be done without what is missing.
 */
export function planStep(
  index: number,
  { ticketId, customerId, orderId, text }: Ticket,
  outputs: Outputs,
): Step | undefined {
  const contextSummary = `Ticket ${ticketId}: "${text}"`;
  if (index === 0) return { actionName: 'read_customer_record', actionArgs: { customerId }, contextSummary };

  const record = outputs.read_customer_record as CustomerRecord | undefined;
  const order = record?.orders.find((one) => one.orderId === orderId);
  if (!record || !order) return undefined;
  const { amount, currency } = order;

  switch (index) {
    case 1:
      return {
        actionName: 'draft_response',
        actionArgs: { name: record.name, orderId, amount, currency },
        contextSummary,
      };
    case 2: {
      const body = outputs.draft_response;
      if (body === undefined) return undefined;
      const subject = `Your order ${orderId} (${ticketId})`;
      return { actionName: 'send_customer_email', actionArgs: { to: record.email, subject, body }, contextSummary };
    }
    case 3:
      return {
        actionName: 'issue_refund',
        actionArgs: { customerId, orderId, amount, currency, card: record.card },
        contextSummary: `${contextSummary}. The record shows order ${orderId} charged twice.`,
      };
    default:
      return undefined;
  }
}
