import { randomUUID } from 'node:crypto';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { type ApprovalRequest, type Countersign, Refusal } from './countersign.ts';
import { type Outputs, planStep, type Step, type Ticket } from './plan.ts';
import type { SqliteSaver } from './sqlite-saver.ts';
import type { Terminal } from './terminal.ts';
import type { Done, Tools } from './tools.ts';

/** What became of one step. */
export interface Result {
  actionName: string;
  requestId: string;
  acted: boolean;
  /** Why it did not act, or what happened when it did. */
  why: string;
}

const State = Annotation.Root({
  runId: Annotation<string>,
  ticket: Annotation<Ticket>,
  index: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
  step: Annotation<Step | undefined>,
  request: Annotation<ApprovalRequest>,
  /** Chosen, and kept in a checkpoint, before the claim: a second process that finds it asks under the same name. */
  claimId: Annotation<string>,
  outputs: Annotation<Outputs>({ reducer: (all, more) => ({ ...all, ...more }), default: () => ({}) }),
  results: Annotation<Result[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** These are final: the approval cannot be used, now or later. */
const unusable = ['NOT_APPROVED', 'ALREADY_CLAIMED', 'DEADLINE_PASSED', 'DIGEST_MISMATCH'];

/**
 * The agent: `plan → ask → (await) → act`, step after step. Each node is one move that may be repeated after a crash; a
 * checkpoint stands between two. What pauses is a LangGraph interrupt with the request, and whoever runs the graph resumes it
 * with the request as decided.
 */
export function buildAgent(countersign: Countersign, tools: Tools, saver: SqliteSaver, terminal: Terminal) {
  const plan = ({ index, ticket, outputs }: typeof State.State) => ({ step: planStep(index, ticket, outputs) });

  const ask = async ({ runId, index, step }: typeof State.State) => {
    const question = { runId, ...(step as Step) };
    const request = await countersign.create(question, `${runId}:${index}`);
    terminal.asked(index, request);
    return { request, claimId: randomUUID() };
  };

  const awaitPeople = ({ request }: typeof State.State) => ({
    request: interrupt<ApprovalRequest, ApprovalRequest>(request),
  });

  const act = async ({ index, step, request, claimId }: typeof State.State) => {
    const { actionName } = step as Step;
    const did = await claimAndAct(actionName, request, claimId);
    terminal.finished(did);
    const { output, ...result } = did;
    return {
      index: index + 1,
      results: [{ actionName, requestId: request.requestId, ...result }],
      ...(output !== undefined && { outputs: { [actionName]: output } }),
    };
  };

  async function claimAndAct(actionName: string, request: ApprovalRequest, claimId: string) {
    const { requestId, effectiveArgs, decision } = request;
    // A response stands in for the step's output; every other stop leaves the step without one.
    if (request.verdict !== 'allow') return { acted: false, why: whyNot(request), output: decision?.response };
    let claimed: { effectiveArgs: ApprovalRequest['effectiveArgs'] };
    try {
      claimed = await countersign.claim(requestId, { claimId, actionName, actionArgs: effectiveArgs });
    } catch (error) {
      if (error instanceof Refusal && unusable.includes(error.code)) return { acted: false, why: error.message };
      throw error;
    }
    const done = await run(actionName, claimed.effectiveArgs, claimId);
    if ('failure' in done) {
      await countersign.outcome(requestId, { claimId, outcome: 'failed', result: { error: done.failure } });
      return { acted: true, why: `failed: ${done.failure}` };
    }
    await countersign.outcome(requestId, { claimId, outcome: 'succeeded', result: done.report });
    return { acted: true, why: `done: ${JSON.stringify(done.report)}`, output: done.output };
  }

  async function run(
    actionName: string,
    args: ApprovalRequest['effectiveArgs'],
    claimId: string,
  ): Promise<Done | { failure: string }> {
    try {
      const tool = tools[actionName];
      if (!tool) throw new Error(`there is no tool ${actionName}`);
      return await tool(args, claimId);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  return new StateGraph(State)
    .addNode('plan', plan)
    .addNode('ask', ask)
    .addNode('await', awaitPeople)
    .addNode('act', act)
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', ({ step }) => (step ? 'ask' : END), ['ask', END])
    .addConditionalEdges('ask', ({ request }) => (request.verdict === 'pause' ? 'await' : 'act'), ['await', 'act'])
    .addEdge('await', 'act')
    .addEdge('act', 'plan')
    .compile({ checkpointer: saver });
}

/** Why the agent does not act. Silence is not a person's word, and is never told as one. */
function whyNot({ status, decision, deadline, cancelledBy }: ApprovalRequest): string {
  const who = decision?.decidedBy.join(' and ');
  const note = decision?.note === undefined ? '' : `: "${decision.note}"`;
  switch (status) {
    case 'REJECTED':
      return `${who} said no${note}`;
    case 'RESPONDED':
      return `${who} answered instead${note}: ${JSON.stringify(decision?.response)}`;
    case 'TIMED_OUT':
      return `nobody answered by ${deadline}, and silence is not a yes`;
    case 'CANCELLED':
      return `${cancelledBy} took the question back`;
    case 'REVOKED':
      return decision?.source === 'timeout'
        ? 'the approval was not used in time'
        : `${who} took the approval back${note}`;
    case 'PENDING':
    case 'APPROVED':
      return `the request is ${status}`;
  }
}
