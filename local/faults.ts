import * as z from 'zod';
import { CountersignError } from '../core/errors.ts';
import { dynamodbOperations } from './aws-dynamodb.ts';
import { type ErrorAnswer, refusals } from './aws-protocol.ts';
import { snsOperations } from './aws-sns.ts';

/** All may mean that the call was applied, whatever the caller was told. */
const lostAnswers = ['InternalServerError', 'timeout', 'socket'] as const;
const onlyOfDynamodb: readonly string[] = ['TransactionConflict', 'ProvisionedThroughputExceededException'];

export type InjectedError = ErrorAnswer | 'timeout' | 'socket';

export interface FaultRule {
  /** A function's name or logical id. @default - any */
  function?: string | undefined;
  /** `TransactWriteItems`, `Publish`. @default - any */
  operation?: string | undefined;
  /** Calls that it lets pass first. @default 0 */
  skip?: number | undefined;
  /** Calls that it strikes. The SDK tries on by itself: for DynamoDB it makes four calls of one, for SNS three. */
  times: number;
  /** `after`: the call is applied, and its answer lost. */
  when: 'before' | 'after';
  error: InjectedError;
}

const ruleSchema: z.ZodType<FaultRule> = z
  .strictObject({
    function: z.string().optional(),
    operation: z.enum([...dynamodbOperations, ...snsOperations]).optional(),
    skip: z.int().min(0).optional(),
    times: z.int().positive(),
    when: z.enum(['before', 'after']),
    error: z.enum([...lostAnswers, ...refusals]),
  })
  .superRefine(({ operation, when, error }, context) => {
    if (when === 'after' && isOneOf(refusals, error)) {
      const message = `${error} says that nothing was applied, so it cannot come after; allowed: ${lostAnswers.join(', ')}`;
      context.addIssue({ code: 'custom', message });
    }
    if (isOneOf(snsOperations, operation) && onlyOfDynamodb.includes(error)) {
      context.addIssue({ code: 'custom', message: `${operation} never fails with ${error}` });
    }
  });

export interface Faults {
  /** Replaces all rules. Throws `VALIDATION_FAILED`, and leaves the rules as they are, for one that could not strike. */
  set(rules: unknown): void;
  clear(): void;
  /** With `times` as it is left; a rule that is used up is gone. */
  rules(): FaultRule[];
  /** The first rule for this call, used up by one; the endpoint asks once for each call. */
  strike(caller: { logicalId: string; name: string }, operation: string): Pick<FaultRule, 'when' | 'error'> | undefined;
}

const isOneOf = (allowed: readonly string[], given: string | undefined) =>
  given !== undefined && allowed.includes(given);

/** @param callers names and logical ids that a rule may give for `function` */
export function createFaults(callers: readonly string[]): Faults {
  let left: FaultRule[] = [];
  const schema = z.array(ruleSchema).superRefine((rules, context) => {
    for (const [index, rule] of rules.entries()) {
      if (rule.function === undefined || callers.includes(rule.function)) continue;
      const message = `"${rule.function}" is no function of the stack; there are ${callers.join(', ')}`;
      context.addIssue({ code: 'custom', path: [index, 'function'], message });
    }
  });
  return {
    set(rules) {
      const checked = schema.safeParse(rules);
      if (!checked.success) throw new CountersignError('VALIDATION_FAILED', z.prettifyError(checked.error));
      left = checked.data;
    },
    clear() {
      left = [];
    },
    rules: () => structuredClone(left),
    strike(caller, operation) {
      const rule = left.find(
        (candidate) =>
          (candidate.function === undefined || [caller.name, caller.logicalId].includes(candidate.function)) &&
          (candidate.operation === undefined || candidate.operation === operation) &&
          !(isOneOf(snsOperations, operation) && onlyOfDynamodb.includes(candidate.error)),
      );
      if (!rule) return undefined;
      if (rule.skip) {
        rule.skip -= 1;
        return undefined;
      }
      rule.times -= 1;
      left = left.filter(({ times }) => times > 0);
      return { when: rule.when, error: rule.error };
    },
  };
}
