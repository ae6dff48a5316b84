import { canonicalJson, type Digest, digestOf } from './canonical-json.ts';
import type { JsonObject } from './json.ts';

/** `before`: may this run? `after`: it ran; may the run go on? */
export type Phase = 'before' | 'after';

/** What will run if approved: the tool's name and the exact arguments, and between which agents. */
export interface Action {
  actionName: string;
  actionArgs: JsonObject;
  sourceAgent?: string;
  targetAgent?: string;
  phase: Phase;
}

/** Something written once and named by its digest: `canonical` is the very string whose SHA-256 `digest` is. */
export interface Content {
  digest: Digest;
  canonical: string;
}

/**
 * The action as content: its digest is the `argsDigest` of DESIGN §1, `sha256:` + hex over the RFC 8785 bytes of
 * `{actionName, actionArgs, phase, sourceAgent?, targetAgent?}`.
 */
export function actionContent(action: Action): Content {
  const { actionName, actionArgs, sourceAgent, targetAgent, phase } = action;
  const canonical = canonicalJson({ actionName, actionArgs, sourceAgent, targetAgent, phase });
  return { digest: digestOf(canonical), canonical };
}
