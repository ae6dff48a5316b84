import { parseDocument } from 'yaml';
import { CountersignError } from './errors.ts';
import { checkPolicyDocument, type PolicyDocument } from './policy-document.ts';

/**
 * Reads a policy document from YAML 1.2 or JSON and checks it. One document, each key once, no aliases, no tags of one's
 * own. Throws `POLICY_INVALID`, for a fault of the text with its line and column. Kept apart from the check, so that what
 * reads a checked document as JSON needs no YAML.
 */
export function parsePolicyDocument(text: string): PolicyDocument {
  return checkPolicyDocument(readYaml(text));
}

function readYaml(text: string): unknown {
  let problems: string[];
  try {
    const document = parseDocument(text, { version: '1.2', strict: true, uniqueKeys: true, stringKeys: true });
    problems = [...document.errors, ...document.warnings].map(({ message }) => message.trim()).slice(0, 10);
    if (problems.length === 0) return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    problems = [error instanceof ReferenceError ? 'aliases (*name) are not allowed' : String(error)];
  }
  throw new CountersignError('POLICY_INVALID', `The policy is no readable YAML or JSON: ${problems.join('; ')}`, {
    problems,
  });
}
