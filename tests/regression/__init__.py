# SPDX-License-Identifier: MIT
"""One test file for every defect that was found and fixed: test_issue_<n>.py."""
