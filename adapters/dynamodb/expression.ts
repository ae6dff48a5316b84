/**
 * Collects what an expression names and compares. Every attribute name and value goes through placeholders: no text that
 * came from outside ever stands in an expression.
 */
export class Expression {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, unknown>();

  /** A placeholder for an attribute, or for a member inside a map: `name('owed', id)`. */
  name(...path: [string, ...string[]]): string {
    return path.map((step) => this.#placeholder(step)).join('.');
  }

  value(value: unknown): string {
    const placeholder = `:v${this.#values.size}`;
    this.#values.set(placeholder, value);
    return placeholder;
  }

  /** The parameters that go beside the expression's text; none that is empty, which DynamoDB refuses. */
  parameters() {
    return {
      ...(this.#names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries(
          [...this.#names].map(([step, placeholder]) => [placeholder, step]),
        ),
      }),
      ...(this.#values.size > 0 && { ExpressionAttributeValues: Object.fromEntries(this.#values) }),
    };
  }

  #placeholder(step: string): string {
    const placeholder = this.#names.get(step) ?? `#n${this.#names.size}`;
    this.#names.set(step, placeholder);
    return placeholder;
  }
}
