"""Provisioning of stacks: plans, provisioners and the job that reconciles stacks."""
