import { Duration } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { EventSourceMapping, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface SweepAndDispatchProps {
  readonly sweep: Lambda;
  readonly sweepMinutes: number;
  readonly dispatch: Lambda;
  readonly audit: TableV2;
  /** What the stream could not deliver after all tries. */
  readonly failed: Queue;
}

/** What happens without a caller: the schedule runs the sweep, the audit table's stream wakes `dispatch`. */
export class SweepAndDispatch extends Construct {
  constructor(scope: Construct, id: string, props: SweepAndDispatchProps) {
    super(scope, id);
    new Rule(this, 'schedule', {
      description: 'Every request whose wakeAt has come',
      schedule: Schedule.rate(Duration.minutes(props.sweepMinutes)),
      // The next tick does what this one could not.
      targets: [new LambdaFunction(props.sweep, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
    new EventSourceMapping(this, 'stream', {
      target: props.dispatch,
      eventSourceArn: props.audit.tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // Few and short: what is owed stands on the request, and the sweep delivers what the stream did not.
      retryAttempts: 5,
      maxRecordAge: Duration.hours(1),
      // `SqsDlq` would add a grant of its own; the role has the one that it needs.
      onFailure: { bind: () => ({ destination: props.failed.queueArn }) },
    });
  }
}
