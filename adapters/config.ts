import * as z from 'zod';
import { environment } from './environment.ts';

const address = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const words = z
  .string()
  .transform((text) => text.split(/\s+/).filter((word) => word !== ''))
  .pipe(z.array(z.string()).min(1));

const settings = {
  requestsTable: z.string().min(1),
  auditTable: z.string().min(1),
  policiesTable: z.string().min(1),
  samplesTable: z.string().min(1),
  escalationsTable: z.string().min(1),
  alertsTopic: z.string().min(1),
  webUrl: address,
  /** Verbatim: a token's `iss` must equal it to the last character. */
  issuer: z.url({ protocol: /^https?$/ }),
  audience: words,
  webClientId: z.string().min(1),
  nameClaim: z.string().min(1),
  rolesClaim: z.string().min(1),
  scopePrefix: z.string(),
} satisfies Record<keyof typeof environment, z.ZodType>;

type Settings = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]> };

/**
 * The settings that a function names, from its environment, checked. Called once, at cold start: a function that was
 * deployed without one of them must fail there, with the variable's name, and not in the middle of a decision.
 */
export function configuration<Name extends keyof Settings>(
  names: readonly Name[],
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Pick<Settings, Name> {
  const read = names.map((name) => {
    const setting = settings[name].safeParse(variables[environment[name]]);
    if (setting.success) return [name, setting.data];
    throw new Error(
      `${environment[name]} is not usable: ${setting.error.issues.map((issue) => issue.message).join('; ')}`,
    );
  });
  return Object.fromEntries(read) as Pick<Settings, Name>;
}
