import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { CountersignError } from '../core/errors.ts';
import { checkCases, type PolicyCase } from '../core/policy-case.ts';
import type { PolicyDocument } from '../core/policy-schema.ts';
import { parsePolicyDocument } from '../core/policy-yaml.ts';
import { UsageError } from './command.ts';

export function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A policy that a command needs to be valid. */
export function policyOfFile(path: string): PolicyDocument {
  try {
    return parsePolicyDocument(textOfFile(path));
  } catch (error) {
    if (error instanceof CountersignError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}

/** Any YAML or JSON, as plain values. */
export function dataOfFile(path: string): unknown {
  const document = parseDocument(textOfFile(path), {
    version: '1.2',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw new UsageError(`${path} is no readable YAML or JSON: ${problem.message.trim()}`);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new UsageError(`${path}: aliases (*name) are not allowed`);
  }
}

/** A table of cases. */
export function casesOfFile(path: string): PolicyCase[] {
  try {
    return checkCases(dataOfFile(path));
  } catch (error) {
    if (error instanceof CountersignError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}
