namespace surefoot::algorithms {}
