/**
 * The service understood and said no, or could not be reached. `code` is the problem's stable word (`ALREADY_DECIDED`;
 * `UNREACHABLE` where no answer came), `detail` its sentence, `status` the HTTP status (0 without an answer), `members` what
 * the problem says besides.
 */
export class CountersignProblem extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, status: number, detail: string, members: Record<string, unknown> = {}, cause?: unknown) {
    super(`${code}: ${detail}`, { cause });
    this.name = 'CountersignProblem';
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.members = members;
  }
}
