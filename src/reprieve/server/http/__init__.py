"""The wire: what a request asks for, how the answer looks. All decisions are made by the modules one floor up."""
