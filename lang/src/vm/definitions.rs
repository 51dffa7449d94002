//! The run-time definitions of declared types.

use crate::declaration::{EnumDecl, InterfaceDecl, StructDecl, TypeDecl};
use crate::value::{EnumDef, InterfaceDef, StructDef, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// The definitions that the compiler has made in a run, by declaration. Inline caches compare their addresses, so they live as long
/// as the code does.
#[derive(Default)]
pub struct Definitions {
    structs: Of<StructDecl, StructDef>,
    enums: Of<EnumDecl, EnumDef>,
    interfaces: Of<InterfaceDecl, InterfaceDef>,
    /// The declarations of the run, and the types as values. A declaration names others without keeping them.
    types: RefCell<HashMap<*const (), KeptType>>,
}

/// A declaration that lives as long as the run.
struct KeptType {
    decl: TypeDecl,
    value: Option<Value>,
}

/// The definitions of a kind. Each keeps its declaration, so that no other takes its address.
struct Of<Decl, Def>(RefCell<HashMap<Address<Decl>, Rc<Def>>>);

/// A declaration, compared by its address.
struct Address<Decl>(Rc<Decl>);

impl<Decl, Def> Default for Of<Decl, Def> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<Decl> PartialEq for Address<Decl> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<Decl> Eq for Address<Decl> {}

impl<Decl> Hash for Address<Decl> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}

impl<Decl, Def> Of<Decl, Def> {
    fn of(&self, decl: &Rc<Decl>, make: impl FnOnce() -> Rc<Def>) -> Rc<Def> {
        self.0.borrow_mut().entry(Address(decl.clone())).or_insert_with(make).clone()
    }
}

impl Definitions {
    /// Keeps a declaration.
    pub fn keep(&self, decl: &TypeDecl) {
        let kept = || KeptType { decl: decl.clone(), value: None };
        self.types.borrow_mut().entry(decl.address()).or_insert_with(kept);
    }

    /// Returns a declared type as a value, which is made when it is first asked for.
    pub fn of_type(&self, decl: &TypeDecl, make: impl FnOnce() -> Value) -> Value {
        self.keep(decl);
        let known = self.types.borrow().get(&decl.address()).and_then(|kept| kept.value.clone());
        known.unwrap_or_else(|| {
            let value = make();
            if let Some(kept) = self.types.borrow_mut().get_mut(&decl.address()) {
                debug_assert!(kept.decl.address() == decl.address(), "a declaration is kept under its address");
                kept.value = Some(value.clone());
            }
            value
        })
    }

    /// Returns the definition of a struct, which is made when it is first asked for.
    pub fn of_struct(&self, decl: &Rc<StructDecl>, make: impl FnOnce() -> StructDef) -> Rc<StructDef> {
        self.structs.of(decl, || Rc::new(make()))
    }

    /// Returns the definition of an enum, which is made when it is first asked for.
    pub fn of_enum(&self, decl: &Rc<EnumDecl>, make: impl FnOnce() -> EnumDef) -> Rc<EnumDef> {
        self.enums.of(decl, || Rc::new(make()))
    }

    /// Returns the definition of an interface, which is made when it is first asked for.
    pub fn of_interface(&self, decl: &Rc<InterfaceDecl>, make: impl FnOnce() -> InterfaceDef) -> Rc<InterfaceDef> {
        self.interfaces.of(decl, || Rc::new(make()))
    }
}
