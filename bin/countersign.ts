import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { addStack, newApp } from '../lib/app.ts';
import { configFromContext } from '../lib/stack-config.ts';

const app = newApp();
addStack(
  app,
  configFromContext((key) => app.node.tryGetContext(key)),
);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
