"""Bedrock's wire: Converse, as read from AWS's own description of it."""
