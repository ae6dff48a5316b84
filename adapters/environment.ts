/** The environment variables of the functions: the stack sets them by these names, `adapters/config.ts` reads them. */
export const environment = {
  requestsTable: 'REQUESTS_TABLE',
  auditTable: 'AUDIT_TABLE',
  policiesTable: 'POLICIES_TABLE',
  samplesTable: 'SAMPLES_TABLE',
  escalationsTable: 'ESCALATIONS_TABLE',
  alertsTopic: 'ALERTS_TOPIC_ARN',
  /** Where approvers' links lead; no slash at the end. */
  webUrl: 'WEB_URL',
  issuer: 'ISSUER',
  /** Client ids that tokens may be meant for, joined by a blank. */
  audience: 'AUDIENCE',
  /** The pages' own client at the identity provider. */
  webClientId: 'WEB_CLIENT_ID',
  /** Holds a caller's name; `sub` where a token has none of it. */
  nameClaim: 'NAME_CLAIM',
  rolesClaim: 'ROLES_CLAIM',
  scopePrefix: 'SCOPE_PREFIX',
} as const;

/** The checked policy document, JSON, beside the bundled handler (in `LAMBDA_TASK_ROOT`). */
export const policyFile = 'policy.json';
