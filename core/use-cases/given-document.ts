import * as z from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import { CountersignError } from '../errors.ts';
import { jsonObject } from '../fields.ts';
import { checkPolicyDocument, type PolicyDocument } from '../policy-document.ts';
import { parsePolicyDocument } from '../policy-yaml.ts';

/** A document stands in a body as JSON (`document`) or as the text of a YAML or JSON file (`yaml`). */
export const documentFields = {
  document: jsonObject.optional(),
  yaml: z.string().optional(),
};

/** Bytes of the canonical document: it must fit into an item, and into a request that asks whether it may be published. */
const mostDocumentBytes = 192 * 1024;

/** The runs in which its publications are recorded have ids too. */
const longestMissionId = 100;

/**
 * The document of a body, checked; `undefined` where there is none. Throws `POLICY_INVALID` (also where it is another
 * mission's), `VALIDATION_FAILED`, `PAYLOAD_TOO_LARGE`.
 */
export function givenDocument(
  missionId: string,
  { document, yaml }: z.infer<z.ZodObject<typeof documentFields>>,
): PolicyDocument | undefined {
  if (document !== undefined && yaml !== undefined)
    throw new CountersignError('VALIDATION_FAILED', 'Both document and yaml are given; give one of them.');
  if (document === undefined && yaml === undefined) return undefined;
  const checked = yaml === undefined ? checkPolicyDocument(document) : parsePolicyDocument(yaml);
  if (checked.mission !== missionId) {
    const problem = `/mission is ${JSON.stringify(checked.mission)}; the path names ${JSON.stringify(missionId)}`;
    throw new CountersignError('POLICY_INVALID', `The policy document is not valid: ${problem}.`, {
      problems: [problem],
    });
  }
  if (missionId.length > longestMissionId)
    throw new CountersignError(
      'VALIDATION_FAILED',
      `The mission's id has ${missionId.length} characters; at most ${longestMissionId} are allowed.`,
    );
  const bytes = Buffer.byteLength(canonicalJson(checked), 'utf8');
  if (bytes > mostDocumentBytes)
    throw new CountersignError(
      'PAYLOAD_TOO_LARGE',
      `The document has ${bytes} bytes; at most ${mostDocumentBytes} are allowed.`,
      { bytes, limit: mostDocumentBytes },
    );
  return checked;
}
