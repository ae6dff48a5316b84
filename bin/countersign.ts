import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { CountersignError } from '../core/errors.ts';
import { addStack, newApp } from '../lib/app.ts';
import { configFromContext } from '../lib/stack-config.ts';

const app = newApp();
try {
  addStack(app, configFromContext(app.node.getAllContext()));
} catch (error) {
  if (!(error instanceof CountersignError)) throw error;
  console.error(error.message);
  process.exit(1);
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
