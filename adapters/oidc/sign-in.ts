import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  ResponseBodyError,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { CountersignError } from '../../core/errors.ts';

export interface SignInSettings {
  webUrl: string;
  audience: readonly string[];
  scopePrefix: string;
}

/** What must be known again when the issuer sends the person back; it waits in a cookie of their browser. */
interface PendingSignIn {
  state: string;
  verifier: string;
  returnTo: string;
}

interface Session {
  token: string;
  /** Seconds for which the token is good, as the issuer says. */
  seconds: number;
}

export interface SignIn {
  /** Where to send the browser. `again`: the issuer shall ask who it is, also where it still knows. */
  begin(returnTo: string, again: boolean): Promise<{ address: string; pending: PendingSignIn }>;
  /** The issuer's answer, as the query string of the callback. Throws `UNAUTHENTICATED` where it is none to this sign-in. */
  finish(query: string, pending: PendingSignIn): Promise<Session>;
}

const callback = '/sign-in/callback';
const withoutExpirySeconds = 3600;

/** OpenID Connect, authorization code with PKCE. */
export const signInAt = (settings: SignInSettings, issuer: () => Promise<Configuration>): SignIn => ({
  begin: async (returnTo, again) => {
    const configuration = await issuer();
    const verifier = randomPKCECodeVerifier();
    const state = randomState();
    const address = buildAuthorizationUrl(configuration, {
      redirect_uri: settings.webUrl + callback,
      scope: scopesAskedFor(configuration, settings.scopePrefix),
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...resourceOf(settings.audience),
      ...(again && { prompt: 'login' }),
    });
    return { address: address.href, pending: { state, verifier, returnTo } };
  },

  finish: async (query, { state, verifier }) => {
    const configuration = await issuer();
    const answer = new URL(`${settings.webUrl}${callback}${query}`);
    try {
      const checks = { expectedState: state, pkceCodeVerifier: verifier };
      const tokens = await authorizationCodeGrant(configuration, answer, checks, resourceOf(settings.audience));
      return { token: tokens.access_token, seconds: tokens.expiresIn() ?? withoutExpirySeconds };
    } catch (error) {
      if (isRefusal(error))
        throw new CountersignError('UNAUTHENTICATED', `The sign-in did not finish (${error.message}).`);
      throw error;
    }
  },
});

/** `audit` is asked for only where the issuer names it: elsewhere asking for what a client may not have refuses everything. */
function scopesAskedFor(configuration: Configuration, prefix: string): string {
  const audit = `${prefix}audit`;
  const known = configuration.serverMetadata().scopes_supported ?? [];
  return ['openid', `${prefix}decide`, ...(known.includes(audit) ? [audit] : [])].join(' ');
}

/** RFC 8707, where the audience is an address; where it is a client id (Cognito), the client itself says it. */
function resourceOf(audience: readonly string[]): { resource?: string } {
  const resource = audience.find((name) => URL.canParse(name));
  return resource === undefined ? {} : { resource };
}

const isRefusal = (error: unknown): error is Error =>
  error instanceof AuthorizationResponseError || error instanceof ResponseBodyError || error instanceof ClientError;
