/** The part of oidc-provider that is used here; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export interface Client {
    clientId: string;
  }

  interface Token {
    save(): Promise<string>;
  }

  export interface TokenFields {
    client: Client;
    resourceServer: unknown;
    scope: string;
    accountId?: string;
    grantId?: string;
    gty?: string;
    expiresIn: number;
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  /** What the hooks get; `oidc` is absent where a token is made outside of a request. */
  export interface Context {
    oidc: {
      client: Client;
      session: { accountId?: string };
      provider: Provider;
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    on(event: 'server_error', listener: (context: Context, error: Error) => void): this;
    readonly Client: { find(clientId: string): Promise<Client | undefined> };
    readonly AccessToken: new (
      fields: TokenFields,
    ) => Token;
    readonly ClientCredentials: new (
      fields: TokenFields,
    ) => Token;
    readonly ResourceServer: new (
      identifier: string,
      data: object,
    ) => unknown;
    readonly Grant: new (fields: {
      accountId: string;
      clientId: string;
    }) => Grant;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<{ uid: string }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }

  export const interactionPolicy: {
    base(): { remove(prompt: string): void };
  };
}
